"""Ask the archive for one page: when the pace allows it, and telling the pace how it went."""

from collections.abc import Generator
from dataclasses import dataclass
from datetime import timedelta

from ppcfetch.errors import ArchiveThrottled, Permanent, Retryable
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.egress import Permit
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
    """Give a page of a query, in the run's turn; over another egress where one fails.

    Shape: yields None at moments when the run may be stopped without losing work.
    Raises: LeaseLost, Retryable, Permanent; `model.outcome.decide` says what each means.
    """
    began = asking.clock.monotonic()
    while True:
        permit = yield from _wait_for_turn(run, asking=asking)
        try:
            page = asking.archive.page(query, cursor, via=permit.egress)
        except Retryable as failure:
            rest = asking.pace.went_badly(permit, failure)
            if rest is None:
                raise
            if rest or _waited(began, asking) > asking.patience:
                # The breaker is open: an outage of the archive must not use up its attempts.
                raise ArchiveThrottled(str(failure), retry_after=rest) from failure
            yield None
        except Permanent:
            # Whatever it said, the archive answered: that is all the pace wants to know.
            asking.pace.went_well(permit)
            raise
        else:
            asking.pace.went_well(permit)
            return page


def _wait_for_turn(run: Run, *, asking: Asking) -> Generator[None, None, Permit]:
    pace, clock = asking.pace, asking.clock
    began = clock.monotonic()
    while not isinstance(leave := pace.ask(run.lease.job.pool), Permit):
        run.check()
        if _waited(began, asking) + leave > asking.patience:
            message = f"the archive may be asked again in {leave.total_seconds():.0f} s"
            raise ArchiveThrottled(message, retry_after=leave)
        clock.sleep(min(leave.total_seconds(), LONGEST_NAP_SECONDS))
        yield None
    run.check()
    return leave


def _waited(since: float, asking: Asking) -> timedelta:
    return timedelta(seconds=asking.clock.monotonic() - since)
