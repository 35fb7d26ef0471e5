"""What the rows tell of a job or of a domain's fetch, each in one statement."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, Row, text

from ppcfetch.adapters.database.engine import translated
from ppcfetch.adapters.database.job_views import VIEW_COLUMNS, view_of
from ppcfetch.errors import NotFound
from ppcfetch.model.domain import DomainName
from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Pause
from ppcfetch.model.whereabouts import RowFacts

MOST_JOBS = 500
_LOOKED_AT = 1000
"""The most jobs of a pool that are counted for a place in line."""

_COLUMNS = ", ".join(f"jobs.{name}" for name in VIEW_COLUMNS.split(", "))

_FACTS = f"""
SELECT {_COLUMNS}, jobs.admitted, statement_timestamp() AS now,
    pauses.paused_at, pauses.paused_by, pauses.reason AS pause_reason,
    CASE WHEN jobs.state = 'queued' AND NOT jobs.admitted THEN (
        SELECT count(*) FROM (
            SELECT FROM jobs AS other
            WHERE other.pool = jobs.pool AND other.asker = jobs.asker AND other.state = 'queued'
                AND NOT other.admitted AND other.parent_id IS NULL
                AND (other.due_at, other.id) < (jobs.due_at, jobs.id)
            LIMIT {_LOOKED_AT}
        ) line
    ) WHEN jobs.state = 'queued' THEN (
        SELECT count(*) FROM (
            SELECT id, due_at, state FROM jobs AS other
            WHERE other.pool = jobs.pool AND other.state IN ('queued', 'running')
                AND other.admitted
            ORDER BY other.id LIMIT {_LOOKED_AT}
        ) line
        WHERE line.state = 'queued' AND line.due_at <= statement_timestamp()
            AND (line.due_at, line.id) < (jobs.due_at, jobs.id)
    ) ELSE 0 END AS ahead
FROM jobs LEFT JOIN pauses ON pauses.pool = jobs.pool
"""  # noqa: S608 -- our own names

_OF_JOB = text(f"{_FACTS} WHERE jobs.id = :id")

_OF_DOMAIN = text(f"""{_FACTS}
WHERE jobs.fetch_id = (
    SELECT id FROM fetches WHERE domain = :domain ORDER BY state = 'active' DESC, id DESC LIMIT 1
)
ORDER BY jobs.id LIMIT {MOST_JOBS}
""")  # noqa: S608 -- our own names


class RowFactsReader:
    """Reads for `explain`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of_job(self, job_id: int) -> RowFacts:
        """Give a job's facts. Raises: NotFound."""
        with translated(), self._engine.connect() as connection:
            row = connection.execute(_OF_JOB, {"id": job_id}).one_or_none()
        if row is None:
            raise NotFound(f"there is no job {job_id}")
        return _facts(row)

    def of_domain(self, domain: DomainName) -> Sequence[RowFacts]:
        """Give the facts of the jobs of a domain's active fetch, else of its newest one.

        Shape: in id order, at most MOST_JOBS. Raises: NotFound when nothing is kept of any.
        """
        with translated(), self._engine.connect() as connection:
            rows = connection.execute(_OF_DOMAIN, {"domain": domain.name}).all()
        if not rows:
            raise NotFound(f"no job of {domain} is kept")
        return [_facts(row) for row in rows]


def _facts(row: Row[Any]) -> RowFacts:
    job = view_of(row)
    pause = None
    if row.paused_at is not None:
        pause = Pause(Pool(row.pool), row.paused_at, row.paused_by, row.pause_reason)
    return RowFacts(job, row.now, row.ahead, pause, row.admitted)
