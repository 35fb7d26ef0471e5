"""Run a job: one archive page after the other, each stored before the next is asked for."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from ppcfetch.errors import (
    ArchiveChanged,
    ArchiveThrottled,
    DatabaseUnavailable,
    Permanent,
    Retryable,
)
from ppcfetch.model.ad import ArchivePage
from ppcfetch.model.job import Checkpoint, Job
from ppcfetch.model.walk import behind
from ppcfetch.ports import Archive, Clock, Pace, Pages, Progress, Run

LONGEST_NAP_SECONDS = 0.25
FIRST_REPEAT_SECONDS = 0.05
LONGEST_REPEAT_SECONDS = 1.0


def run_job(
    run: Run, *, archive: Archive, pages: Pages, pace: Pace, clock: Clock, patience: timedelta
) -> Iterator[Progress | None]:
    """Walk a query from its checkpoint to its end.

    Shape: yields each committed page, and None at other moments when it may be stopped without
    losing work; returns when the job has ended.
    Units: patience is the longest wait for the pace before the job should rest instead.
    Raises: LeaseLost, Retryable, Permanent; `model.outcome.decide` says what each means.
    """
    ended = False
    while not ended:
        yield from _wait_for_turn(run, pace=pace, clock=clock, patience=patience)
        page = _ask(run.lease.job, archive=archive, pace=pace)
        checkpoint = _checkpoint(run.lease.job, page)
        page = _told_of_order(run.lease.job, page, checkpoint)
        progress = _write(run, page, checkpoint, pages=pages, clock=clock)
        run.advanced(progress)
        yield progress
        ended = progress.ended


def _wait_for_turn(run: Run, *, pace: Pace, clock: Clock, patience: timedelta) -> Iterator[None]:
    began = clock.monotonic()
    while wait := pace.ask(run.lease.job.pool):
        run.check()
        waited = timedelta(seconds=clock.monotonic() - began)
        if waited + wait > patience:
            message = f"the archive may be asked again in {wait.total_seconds():.0f} s"
            raise ArchiveThrottled(message, retry_after=wait)
        clock.sleep(min(wait.total_seconds(), LONGEST_NAP_SECONDS))
        yield None
    run.check()


def _ask(job: Job, *, archive: Archive, pace: Pace) -> ArchivePage:
    try:
        page = archive.page(job.query, job.checkpoint.cursor)
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


def _checkpoint(job: Job, page: ArchivePage) -> Checkpoint:
    if job.checkpoint.comes_round(page.next_cursor):
        message = f"the archive's cursors go in a circle after page {job.pages + 1}"
        raise ArchiveChanged(message, field="2")
    return behind(job, page)


def _told_of_order(job: Job, page: ArchivePage, checkpoint: Checkpoint) -> ArchivePage:
    if checkpoint.in_order:
        return page
    warning = f"page {job.pages + 1} is not ordered by when its ads were last shown"
    return replace(page, warnings=(*page.warnings, warning))


def _write(
    run: Run, page: ArchivePage, checkpoint: Checkpoint, *, pages: Pages, clock: Clock
) -> Progress:
    """Store the page, asking again while the database gives no answer and the lease may hold."""
    delay = FIRST_REPEAT_SECONDS
    while True:
        run.check()
        try:
            return pages.write_page(run.lease, page, checkpoint)
        except DatabaseUnavailable:
            clock.sleep(delay)
            delay = min(delay * 2, LONGEST_REPEAT_SECONDS)
