"""Rows of jobs and fetches, turned into the values of the model."""

from typing import Any

from sqlalchemy import Row

from ppcfetch.adapters.database.codes import FORMATS
from ppcfetch.model.ad import Query, TotalRange
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchKind, FetchReason, FetchState
from ppcfetch.model.job import Checkpoint, Job, JobKind, JobState, Pool

JOB_COLUMNS = (
    "id, fetch_id, kind, pool, domain, format, first_day, last_day, state, fence, starts,"
    " attempts, pages, cursor, mark, oldest, newest, until, error"
)
"""What `job_of` reads, for the select list of a statement."""

FETCH_COLUMNS = (
    "id, domain, state, reason, asked_by, asked_at, started_at, finished_at, total_lower,"
    " total_upper, pages, found, new, changed, unseen, warnings, error, kind, until, in_order,"
    " shrunk,"
    # Each part but the first walk has a parent: so the parts that were not split again are left.
    " (SELECT count(parent_id) - count(DISTINCT parent_id) + least(count(parent_id), 1)"
    " FROM jobs WHERE jobs.fetch_id = fetches.id) AS parts,"
    " (SELECT count(*) FROM jobs WHERE jobs.fetch_id = fetches.id AND jobs.kind = 'top up')"
    " AS top_ups"
)
"""What `fetch_of` reads, for a statement that calls the table by its own name."""


def job_of(row: Any) -> Job:
    """Give the job of a row that has `JOB_COLUMNS`, SQLAlchemy's or the driver's."""
    return Job(
        id=row.id,
        fetch_id=row.fetch_id,
        kind=JobKind(row.kind),
        pool=Pool(row.pool),
        query=Query(
            domain=DomainName(row.domain),
            format=None if row.format is None else FORMATS[row.format],
            first_day=row.first_day,
            last_day=row.last_day,
        ),
        state=JobState(row.state),
        fence=row.fence,
        starts=row.starts,
        attempts=row.attempts,
        pages=row.pages,
        checkpoint=Checkpoint(
            cursor=row.cursor,
            mark=row.mark,
            oldest=row.oldest,
            newest=row.newest,
            until=row.until,
        ),
        error=row.error,
    )


def fetch_of(row: Row[Any]) -> Fetch:
    """Give the fetch of a row that has `FETCH_COLUMNS`."""
    known = row.total_lower is not None and row.total_upper is not None
    return Fetch(
        id=row.id,
        domain=DomainName(row.domain),
        state=FetchState(row.state),
        reason=FetchReason(row.reason),
        asked_by=row.asked_by,
        asked_at=row.asked_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        total=TotalRange(row.total_lower, row.total_upper) if known else None,
        pages=row.pages,
        found=row.found,
        new=row.new,
        changed=row.changed,
        unseen=row.unseen,
        warnings=row.warnings,
        error=row.error,
        kind=FetchKind(row.kind),
        until=row.until,
        in_order=row.in_order,
        shrunk=row.shrunk,
        parts=row.parts,
        top_ups=row.top_ups,
    )
