"""Jobs as operators see them: lists that continue behind a job, and single ones."""

from typing import Any

from sqlalchemy import Engine, Row, text

from ppcfetch.adapters.database.codes import FORMATS
from ppcfetch.adapters.database.engine import translated
from ppcfetch.errors import NotFound
from ppcfetch.model.job import JobKind, JobState, Pool
from ppcfetch.model.job_view import JobFilter, JobView

VIEW_COLUMNS = (
    "id, fetch_id, domain, pool, state, created_at, due_at, starts, attempts, pages, fence,"
    " holder, incarnation, taken_at, beat_at, progressed_at, finished_at, error, discarded_at,"
    " kind, format, first_day, last_day, parent_id"
)
"""What `view_of` reads, for the select list of a statement."""

_GET = text(f"SELECT {VIEW_COLUMNS} FROM jobs WHERE id = :id")  # noqa: S608 -- our own names

_OF_FETCH = text(
    f"SELECT {VIEW_COLUMNS} FROM jobs WHERE fetch_id = :fetch ORDER BY id LIMIT :most"  # noqa: S608 -- our own names
)
MOST = 1_000


class JobViews:
    """Reads of job rows, each by an index."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, job_id: int) -> JobView:
        """Give one job. Raises: NotFound."""
        with translated(), self._engine.connect() as connection:
            row = connection.execute(_GET, {"id": job_id}).one_or_none()
        if row is None:
            raise NotFound(f"there is no job {job_id}")
        return view_of(row)

    def of_fetch(self, fetch_id: int) -> list[JobView]:
        """Give the walks of a fetch in the order in which they were made, MOST at most."""
        with translated(), self._engine.connect() as connection:
            rows = connection.execute(_OF_FETCH, {"fetch": fetch_id, "most": MOST})
            return [view_of(row) for row in rows]

    def newest(self, wanted: JobFilter) -> list[JobView]:
        """Give the jobs that pass the filter, newest first; empty at the end."""
        statement = text(
            f"SELECT {VIEW_COLUMNS} FROM jobs WHERE {_conditions(wanted)}"  # noqa: S608 -- our own names
            " ORDER BY id DESC LIMIT :count"
        )
        values = {
            "after": wanted.after,
            "pool": wanted.pool and str(wanted.pool),
            "domain": wanted.domain and wanted.domain.name,
            "count": wanted.count,
        }
        used = {name: value for name, value in values.items() if value is not None}
        with translated(), self._engine.connect() as connection:
            return [view_of(row) for row in connection.execute(statement, used)]


def view_of(row: Row[Any]) -> JobView:
    """Give the view of a row that has `VIEW_COLUMNS`."""
    values = {name: getattr(row, name) for name in VIEW_COLUMNS.split(", ")}
    words = {
        "pool": Pool(row.pool),
        "state": JobState(row.state),
        "kind": JobKind(row.kind),
        "format": None if row.format is None else FORMATS[row.format],
    }
    return JobView(**{**values, **words})


def _conditions(wanted: JobFilter) -> str:
    """Give what must hold; states stand in the text itself, so that partial indexes apply."""
    conditions = ["true"]
    if wanted.states:
        states = ", ".join(f"'{state.value}'" for state in sorted(wanted.states))
        conditions.append(f"state IN ({states})")
    if wanted.pool is not None:
        conditions.append("pool = :pool")
    if wanted.domain is not None:
        conditions.append("fetch_id IN (SELECT id FROM fetches WHERE domain = :domain)")
    if wanted.after is not None:
        conditions.append("id < :after")
    if not wanted.with_discarded:
        conditions.append("discarded_at IS NULL")
    return " AND ".join(conditions)
