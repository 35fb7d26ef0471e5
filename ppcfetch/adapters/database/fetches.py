"""Fetch rows: asked for, joined, cancelled, retried and discarded, each in one transaction."""

from dataclasses import replace

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import IntegrityError

from ppcfetch.adapters.database.admission import admit
from ppcfetch.adapters.database.asking import ask
from ppcfetch.adapters.database.audit import note
from ppcfetch.adapters.database.cancelling import cancel_fetch
from ppcfetch.adapters.database.closing import lock_fetches
from ppcfetch.adapters.database.engine import translated
from ppcfetch.adapters.database.rows import FETCH_COLUMNS, fetch_of
from ppcfetch.errors import DatabaseUnavailable, NotFound, Refused
from ppcfetch.model.admission import Admission
from ppcfetch.model.fetch import Fetch
from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Deed, job_target
from ppcfetch.ports import Asked, Request, Revived

_GET = text(f"SELECT {FETCH_COLUMNS} FROM fetches WHERE id = :id")  # noqa: S608 -- our own names

_REVIVE_JOB = text("""
UPDATE jobs SET state = 'queued', starts = 0, attempts = 0, due_at = clock_timestamp(),
    finished_at = NULL, discarded_at = NULL, admitted = false
WHERE id = :id AND state = 'dead'
RETURNING fetch_id, domain, pool
""")

_DISCARD_JOB = text("""
UPDATE jobs SET discarded_at = clock_timestamp()
WHERE id = :id AND state = 'dead' AND discarded_at IS NULL
""")

_IS_DEAD = text("SELECT true FROM jobs WHERE id = :id AND state = 'dead'")

_NEWER = text("""
SELECT max(id) FROM fetches
WHERE domain = :domain AND id <> :id AND (state = 'active' OR id > :id AND pages > 0)
""")

_REOPEN = text("""
UPDATE fetches SET state = 'active', finished_at = NULL, error = NULL, unseen = NULL
WHERE id = :id AND state <> 'active'
""")


class PostgresFetches:
    """The port `ppcfetch.ports.Fetches` on PostgreSQL."""

    def __init__(
        self,
        engine: Engine,
        admission: Admission = Admission(),  # noqa: B008 -- frozen
    ) -> None:
        self._engine = engine
        self._admission = admission

    def request(self, request: Request) -> Asked:
        """Join the domain's active fetch, or make one with its first job."""
        with translated(), self._engine.begin() as connection:
            asked = ask(connection, request)
        return replace(asked, jobs=(*asked.jobs, *self._let_in()))

    def get(self, fetch_id: int) -> Fetch:
        """Give a fetch as it is now."""
        with translated(), self._engine.begin() as connection:
            row = connection.execute(_GET, {"id": fetch_id}).one_or_none()
        if row is None:
            raise NotFound(f"there is no fetch {fetch_id}")
        return fetch_of(row)

    def cancel(self, fetch_id: int) -> bool:
        """Cancel the active jobs, which ends the fetch; False when there was none to end."""
        with translated(), self._engine.begin() as connection:
            return cancel_fetch(connection, fetch_id)

    def retry(self, job_id: int, deed: Deed | None = None) -> Revived:
        """Queue a dead job again; its attempts and starts begin anew, its checkpoint stays."""
        try:
            pool = self._retry(job_id, deed)
        except IntegrityError:
            # A request made a fetch of this domain at the same moment; now it is seen.
            pool = self._retry(job_id, deed)
        return Revived(pool, self._let_in())

    def discard(self, job_id: int, deed: Deed) -> bool:
        """Put a dead job aside; its state and its fetch's outcome stay as they are."""
        with translated(), self._engine.begin() as connection:
            if connection.execute(_DISCARD_JOB, {"id": job_id}).rowcount:
                note(connection, deed, job_target(job_id))
                return True
            if connection.scalar(_IS_DEAD, {"id": job_id}) is None:
                raise NotFound(f"there is no dead job {job_id}")
            return False

    def _let_in(self) -> tuple[tuple[int, Pool], ...]:
        """Admit whose turn it is; what was asked for is stored, whatever becomes of this."""
        try:
            return tuple(admit(self._engine, self._admission))
        except DatabaseUnavailable:
            return ()

    def _retry(self, job_id: int, deed: Deed | None) -> Pool:
        with translated(), self._engine.begin() as connection:
            row = connection.execute(_REVIVE_JOB, {"id": job_id}).one_or_none()
            if row is None:
                raise NotFound(f"there is no dead job {job_id}")
            _reopen(connection, row.fetch_id, row.domain)
            if deed is not None:
                note(connection, deed, job_target(job_id))
            return Pool(row.pool)


def _reopen(connection: Connection, fetch_id: int, domain: str) -> None:
    lock_fetches(connection, [fetch_id])
    newer = connection.scalar(_NEWER, {"domain": domain, "id": fetch_id})
    if newer is not None:
        raise Refused(f"superseded by fetch {newer}")
    connection.execute(_REOPEN, {"id": fetch_id})
