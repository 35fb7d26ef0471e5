"""Ask the archive for one page: when the pace allows it, and telling the pace how it went."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import timedelta

from ppcfetch.errors import ArchiveThrottled, Permanent, Retryable
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.ports import Archive, Clock, Pace, Run

LONGEST_NAP_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Asking:
    """With what the archive is asked.

    Units: patience is the longest wait for the pace before the job should rest instead.
    """

    archive: Archive
    pace: Pace
    clock: Clock
    patience: timedelta


def ask_page(
    run: Run, query: Query, cursor: str | None, *, asking: Asking
) -> Generator[None, None, ArchivePage]:
    """Give a page of a query, in the run's turn.

    Shape: yields None at moments when the run may be stopped without losing work.
    Raises: LeaseLost, Retryable, Permanent; `model.outcome.decide` says what each means.
    """
    yield from _wait_for_turn(run, asking=asking)
    pace = asking.pace
    try:
        page = asking.archive.page(query, cursor)
    except Retryable as failure:
        rest = pace.went_badly(failure)
        if rest is not None:
            # The breaker is open: an outage of the archive must not use up the job's attempts.
            raise ArchiveThrottled(str(failure), retry_after=rest) from failure
        raise
    except Permanent:
        # Whatever it said, the archive answered: that is all the pace wants to know.
        pace.went_well()
        raise
    pace.went_well()
    return page


def _wait_for_turn(run: Run, *, asking: Asking) -> Iterator[None]:
    pace, clock = asking.pace, asking.clock
    began = clock.monotonic()
    while wait := pace.ask(run.lease.job.pool):
        run.check()
        waited = timedelta(seconds=clock.monotonic() - began)
        if waited + wait > asking.patience:
            message = f"the archive may be asked again in {wait.total_seconds():.0f} s"
            raise ArchiveThrottled(message, retry_after=wait)
        clock.sleep(min(wait.total_seconds(), LONGEST_NAP_SECONDS))
        yield None
    run.check()
