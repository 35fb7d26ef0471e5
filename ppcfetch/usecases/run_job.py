"""Run a job: one archive page after the other, each stored before the next is asked for."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from ppcfetch.errors import ArchiveChanged, ArchiveUnavailable, DatabaseUnavailable
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.job import Checkpoint, Job
from ppcfetch.model.walk import NOTHING_LEFT, behind, leaves_a_doubt
from ppcfetch.ports import Archive, Clock, Pace, Pages, Progress, Run
from ppcfetch.usecases.ask_archive import Asking, ask_page
from ppcfetch.usecases.split import split

FIRST_REPEAT_SECONDS = 0.05
LONGEST_REPEAT_SECONDS = 1.0


def run_job(
    run: Run,
    *,
    archive: Archive,
    pages: Pages,
    pace: Pace,
    clock: Clock,
    patience: timedelta,
    split_at: int | None = None,
) -> Iterator[Progress | None]:
    """Walk a query from its checkpoint to its end, or to where others walk parts of it.

    Shape: yields each committed page, and None at other moments when it may be stopped without
    losing work; returns when the job has ended.
    Units: patience is the longest wait for the pace before the job should rest instead; split_at
    is how many ads make a walk worth splitting, None splits none.
    Raises: LeaseLost, Retryable, Permanent; `model.outcome.decide` says what each means.
    """
    asking = Asking(archive, pace, clock, patience)
    ended = False
    while not ended:
        job = run.lease.job
        page = yield from ask_page(run, job.query, job.checkpoint.cursor, asking=asking)
        if leaves_a_doubt(job, page):
            raise ArchiveUnavailable(NOTHING_LEFT)
        checkpoint = _checkpoint(job, page)
        page = _told_of_order(job, page, checkpoint)
        parts: tuple[Query, ...] = ()
        if split_at is not None:
            parts = yield from split(run, page, asking=asking, at=split_at)
        progress = _write(run, page, checkpoint, parts, pages=pages, clock=clock)
        run.advanced(progress)
        yield progress
        ended = progress.ended


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
    run: Run,
    page: ArchivePage,
    checkpoint: Checkpoint,
    parts: tuple[Query, ...],
    *,
    pages: Pages,
    clock: Clock,
) -> Progress:
    """Store the page, asking again while the database gives no answer and the lease may hold."""
    delay = FIRST_REPEAT_SECONDS
    while True:
        run.check()
        try:
            return pages.write_page(run.lease, page, checkpoint, parts)
        except DatabaseUnavailable:
            clock.sleep(delay)
            delay = min(delay * 2, LONGEST_REPEAT_SECONDS)
