"""How long history is kept, and deleting what is older, a bounded batch at a time.

A domain's last fetch and its last complete one stay for ever, since the domain's page speaks of
them. Ads may name a fetch whose row is gone: the numbers still tell older from newer, and the
page says less about it. Jobs that died keep their fetch's time, so that they can be retried.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, Engine, TextClause, text

from ppcfetch.adapters.database.engine import translated


@dataclass(frozen=True, slots=True)
class Keeping:
    """Keeping times, each counted from the end of the thing kept.

    Units: batch is the most rows of one kind that one call deletes.
    """

    fetches: timedelta
    jobs: timedelta
    page_log: timedelta
    batch: int = 1000


_PAGE_LOG = text("""
DELETE FROM page_log WHERE (job_id, page) IN (
    SELECT job_id, page FROM page_log
    WHERE written_at < clock_timestamp() - CAST(:age AS interval)
    ORDER BY written_at LIMIT :count
)
""")

_SESSIONS = text("""
DELETE FROM sessions WHERE token_hash IN (
    SELECT token_hash FROM sessions
    WHERE expires_at <= clock_timestamp() - CAST(:age AS interval)
    ORDER BY expires_at LIMIT :count
)
""")

# Those of active, partial and failed fetches stay, and of what was stopped while it had a dead
# one: a fetch's outcome counts all of its jobs, and a dead one may be retried.
_OLD_JOBS = text("""
SELECT jobs.id, jobs.finished_at,
    fetches.state = 'done' OR fetches.state = 'cancelled' AND NOT EXISTS (
        SELECT FROM jobs AS gone WHERE gone.fetch_id = fetches.id AND gone.state = 'dead'
    ) AS ripe
FROM jobs JOIN fetches ON fetches.id = jobs.fetch_id
WHERE jobs.state IN ('done', 'cancelled')
    AND jobs.finished_at < clock_timestamp() - CAST(:age AS interval)
    AND (jobs.finished_at, jobs.id) > (:at, :id)
ORDER BY jobs.finished_at, jobs.id LIMIT :count
""")

_JOBS = text("""
WITH old AS (
    SELECT id FROM jobs
    WHERE id = ANY(CAST(:ids AS bigint[])) AND state IN ('done', 'cancelled')
    ORDER BY id
    FOR UPDATE
)
DELETE FROM jobs USING old WHERE jobs.id = old.id
""")

_OLD_FETCHES = text("""
SELECT fetches.id, fetches.finished_at,
    fetches.id IS DISTINCT FROM domains.complete_fetch_id AND EXISTS (
        SELECT FROM fetches AS later
        WHERE later.domain = fetches.domain AND later.id > fetches.id
    ) AS ripe
FROM fetches JOIN domains ON domains.domain = fetches.domain
WHERE fetches.state <> 'active'
    AND fetches.finished_at < clock_timestamp() - CAST(:age AS interval)
    AND (fetches.finished_at, fetches.id) > (:at, :id)
ORDER BY fetches.finished_at, fetches.id LIMIT :count
""")

# Jobs first, as everybody: a retry that was quicker has made its job active, and keeps both.
_JOBS_OF_FETCHES = text("""
WITH old AS (
    SELECT id FROM jobs
    WHERE fetch_id = ANY(CAST(:ids AS bigint[])) AND state NOT IN ('queued', 'running')
    ORDER BY id
    FOR UPDATE
)
DELETE FROM jobs USING old WHERE jobs.id = old.id
""")

_FETCHES = text("""
DELETE FROM fetches WHERE id = ANY(CAST(:ids AS bigint[])) AND state <> 'active'
    AND NOT EXISTS (SELECT FROM jobs WHERE jobs.fetch_id = fetches.id)
""")


_BEGINNING = (datetime.min.replace(tzinfo=UTC), 0)


class Pruner:
    """Deletes what is older than its keeping time.

    Shape: each call looks at one batch of each kind and the next call goes on behind it, so that
    a million fetches which stay for ever cost no more than a thousand.
    """

    def __init__(self, engine: Engine, keeping: Keeping) -> None:
        self._engine = engine
        self._keeping = keeping
        self._jobs_behind = _BEGINNING
        self._fetches_behind = _BEGINNING

    def prune(self) -> int:
        """Delete at most one batch of each kind; gives how many, jobs of fetches not counted."""
        return (
            self._delete(_PAGE_LOG, self._keeping.page_log)
            + self._delete_jobs()
            + self._delete_fetches()
            + self._delete(_SESSIONS, timedelta(0))
        )

    def _delete(self, statement: TextClause, age: timedelta) -> int:
        with translated(), self._engine.begin() as connection:
            values = {"age": age, "count": self._keeping.batch}
            return connection.execute(statement, values).rowcount

    def _delete_jobs(self) -> int:
        with translated(), self._engine.begin() as connection:
            behind, age = self._jobs_behind, self._keeping.jobs
            ids, self._jobs_behind = self._ripe(connection, _OLD_JOBS, age=age, behind=behind)
            return connection.execute(_JOBS, {"ids": ids}).rowcount if ids else 0

    def _delete_fetches(self) -> int:
        with translated(), self._engine.begin() as connection:
            behind, age = self._fetches_behind, self._keeping.fetches
            ids, self._fetches_behind = self._ripe(connection, _OLD_FETCHES, age=age, behind=behind)
            if not ids:
                return 0
            connection.execute(_JOBS_OF_FETCHES, {"ids": ids})
            return connection.execute(_FETCHES, {"ids": ids}).rowcount

    def _ripe(
        self,
        connection: Connection,
        statement: TextClause,
        *,
        age: timedelta,
        behind: tuple[datetime, int],
    ) -> tuple[list[int], tuple[datetime, int]]:
        """Give those of the next batch that may go, and where the batch after it begins."""
        at, after = behind
        count = self._keeping.batch
        values = {"age": age, "at": at, "id": after, "count": count}
        rows = connection.execute(statement, values).all()
        full = len(rows) == count
        following = (rows[-1].finished_at, rows[-1].id) if full else _BEGINNING
        return [row.id for row in rows if row.ripe], following
