"""Admission: whose jobs may have a message next, shared round robin by who asked.

A queued job that is not admitted waits for its turn: it has no message and is in no hand. So many
jobs of a pool as `window` says are kept ready in the stream; behind them each asker has a line of
its own, and whoever has the fewest admitted jobs comes first. Nobody's thousand jobs stand before
somebody else's one, and no fetch that was split fills a pool.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.engine import translated
from ppcfetch.model.job import Pool

_LOCK = 0x70706366
"""Key of the advisory lock, held for one short transaction, so that two do not fill one place."""

_WAITS = text("SELECT EXISTS (SELECT FROM jobs WHERE state = 'queued' AND NOT admitted)")

_ONE_BY_ONE = text(f"SELECT pg_advisory_xact_lock({_LOCK})")

# The lines of askers are found by skipping from one to the next in the index, and each is read
# no further than there is room: two hundred thousand jobs of one asker cost as much as two.
_ADMIT = text("""
WITH RECURSIVE admitted AS MATERIALIZED (
    SELECT pool, asker, fetch_id, count(*) AS number,
        count(*) FILTER (WHERE state = 'queued' AND due_at <= clock_timestamp()) AS ready
    FROM jobs WHERE state IN ('queued', 'running') AND admitted
    GROUP BY pool, asker, fetch_id
), room AS MATERIALIZED (
    SELECT pools.pool, :window - coalesce(sum(admitted.ready), 0) AS free
    FROM (VALUES ('interactive'), ('bulk')) AS pools (pool) LEFT JOIN admitted USING (pool)
    GROUP BY pools.pool
), askers AS (
    (
        SELECT pool, asker FROM jobs
        WHERE state = 'queued' AND NOT admitted AND parent_id IS NULL
        ORDER BY pool, asker LIMIT 1
    )
    UNION ALL
    SELECT following.pool, following.asker FROM askers
    CROSS JOIN LATERAL (
        SELECT jobs.pool, jobs.asker FROM jobs
        WHERE jobs.state = 'queued' AND NOT jobs.admitted AND jobs.parent_id IS NULL
            AND (jobs.pool, jobs.asker) > (askers.pool, askers.asker)
        ORDER BY jobs.pool, jobs.asker LIMIT 1
    ) following
), firsts AS (
    SELECT waiting.* FROM askers JOIN room USING (pool)
    CROSS JOIN LATERAL (
        SELECT id, pool, asker, due_at FROM jobs
        WHERE pool = askers.pool AND asker = askers.asker
            AND state = 'queued' AND NOT admitted AND parent_id IS NULL
            AND due_at <= clock_timestamp()
        ORDER BY due_at, id LIMIT greatest(room.free, 0)
    ) waiting
), split AS (
    SELECT id, pool, asker, due_at, fetch_id,
        row_number() OVER (PARTITION BY fetch_id ORDER BY due_at, id) AS number
    FROM jobs
    WHERE state = 'queued' AND NOT admitted AND parent_id IS NOT NULL
        AND due_at <= clock_timestamp()
), parts AS (
    SELECT split.id, split.pool, split.asker, split.due_at FROM split
    WHERE split.number + coalesce(
        (SELECT sum(admitted.number) FROM admitted WHERE admitted.fetch_id = split.fetch_id), 0
    ) <= :parts
), ranked AS (
    SELECT waiting.id, waiting.pool, waiting.due_at,
        row_number() OVER (PARTITION BY waiting.pool, waiting.asker ORDER BY due_at, id)
            + coalesce((
                SELECT sum(admitted.number) FROM admitted
                WHERE (admitted.pool, admitted.asker) = (waiting.pool, waiting.asker)
            ), 0) AS turn
    FROM (SELECT * FROM firsts UNION ALL SELECT * FROM parts) waiting
), chosen AS (
    SELECT id FROM (
        SELECT ranked.id, room.free,
            row_number() OVER (PARTITION BY pool ORDER BY turn, due_at, id) AS place
        FROM ranked JOIN room USING (pool)
    ) placed
    WHERE place <= free
), locked AS (
    SELECT jobs.id FROM jobs JOIN chosen USING (id)
    WHERE jobs.state = 'queued' AND NOT jobs.admitted
    ORDER BY jobs.id
    FOR UPDATE OF jobs SKIP LOCKED
)
UPDATE jobs SET admitted = true FROM locked WHERE jobs.id = locked.id
RETURNING jobs.id, jobs.pool
""")


@dataclass(frozen=True, slots=True)
class Admission:
    """How many jobs are let in.

    Shape: window counts the jobs of a pool that are ready in the stream, in no hand yet; parts
    the jobs of one split fetch that are in the stream or in a hand.
    """

    window: int = 64
    parts: int = 8


def admit(engine: Engine, admission: Admission) -> Sequence[tuple[int, Pool]]:
    """Let in as many waiting jobs as there is room for; gives them, for the doorbell."""
    with translated(), engine.connect() as connection:
        waits = connection.execution_options(isolation_level="AUTOCOMMIT").scalar(_WAITS)
    if not waits:
        return []
    with translated(), engine.begin() as connection:
        connection.execute(_ONE_BY_ONE)
        asked = {"window": admission.window, "parts": admission.parts}
        rows = connection.execute(_ADMIT, asked).all()
    return sorted((row.id, Pool(row.pool)) for row in rows)
