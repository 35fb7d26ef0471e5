"""Admission: whose jobs may have a message next, shared round robin by who asked.

A queued job that is not admitted waits for its turn: it has no message and is in no hand. So many
jobs of a pool as `window` says are kept ready in the stream; behind them each asker has a line of
its own, and whoever has the fewest admitted jobs comes first. Nobody's thousand jobs stand before
somebody else's one, and no fetch that was split fills a pool.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.engine import translated
from ppcfetch.model.admission import Admission
from ppcfetch.model.job import Pool

_LOCK = 0x70706366
"""Key of the advisory lock, held for one short transaction, so that two do not fill one place."""

# Two questions, each answered by the first entry of an index of its own.
_WAITS = text("""
SELECT EXISTS (
    SELECT FROM jobs WHERE state = 'queued' AND NOT admitted AND parent_id IS NULL
) OR EXISTS (
    SELECT FROM jobs WHERE state = 'queued' AND NOT admitted AND parent_id IS NOT NULL
)
""")

_ONE_BY_ONE = text(f"SELECT pg_advisory_xact_lock({_LOCK})")

_ADMITTED_AGAIN = text("""
SELECT id, pool FROM jobs
WHERE id = ANY(CAST(:ids AS bigint[])) AND state = 'queued' AND admitted
    AND due_at <= clock_timestamp()
""")

# The lines of askers, and the fetches that were split, are found by skipping from one to the next
# in an index, and each is read no further than there is room: two hundred thousand jobs of one
# asker cost as much as two. A pool without room is not looked at.
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
    HAVING :window > coalesce(sum(admitted.ready), 0)
), askers AS (
    SELECT room.pool, room.free, first.asker FROM room
    CROSS JOIN LATERAL (
        SELECT asker FROM jobs
        WHERE pool = room.pool AND state = 'queued' AND NOT admitted AND parent_id IS NULL
        ORDER BY asker LIMIT 1
    ) first
    UNION ALL
    SELECT askers.pool, askers.free, following.asker FROM askers
    CROSS JOIN LATERAL (
        SELECT asker FROM jobs
        WHERE pool = askers.pool AND asker > askers.asker
            AND state = 'queued' AND NOT admitted AND parent_id IS NULL
        ORDER BY asker LIMIT 1
    ) following
), firsts AS (
    SELECT waiting.* FROM askers
    CROSS JOIN LATERAL (
        SELECT id, pool, asker, due_at FROM jobs
        WHERE pool = askers.pool AND asker = askers.asker
            AND state = 'queued' AND NOT admitted AND parent_id IS NULL
            AND due_at <= clock_timestamp()
        ORDER BY due_at, id LIMIT askers.free
    ) waiting
), split AS (
    (
        SELECT fetch_id FROM jobs
        WHERE state = 'queued' AND NOT admitted AND parent_id IS NOT NULL
            AND EXISTS (SELECT FROM room)
        ORDER BY fetch_id LIMIT 1
    )
    UNION ALL
    SELECT following.fetch_id FROM split
    CROSS JOIN LATERAL (
        SELECT fetch_id FROM jobs
        WHERE state = 'queued' AND NOT admitted AND parent_id IS NOT NULL
            AND fetch_id > split.fetch_id
        ORDER BY fetch_id LIMIT 1
    ) following
), parts AS (
    SELECT waiting.* FROM split
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(number), 0) AS number FROM admitted
        WHERE admitted.fetch_id = split.fetch_id
    ) present
    CROSS JOIN LATERAL (
        SELECT id, pool, asker, due_at FROM jobs
        WHERE fetch_id = split.fetch_id
            AND state = 'queued' AND NOT admitted AND parent_id IS NOT NULL
            AND due_at <= clock_timestamp()
        ORDER BY id LIMIT greatest(:parts - present.number, 0)
    ) waiting
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


def admit(
    engine: Engine, admission: Admission, again: Collection[int] = ()
) -> Sequence[tuple[int, Pool]]:
    """Let in as many waiting jobs as there is room for; gives them, for the doorbell.

    Shape: those of `again` that are ready are given with them.
    """
    with translated(), engine.connect() as connection:
        at_once = connection.execution_options(isolation_level="AUTOCOMMIT")
        waits = at_once.scalar(_WAITS)
        rows = list(at_once.execute(_ADMITTED_AGAIN, {"ids": list(again)})) if again else []
    if waits:
        with translated(), engine.begin() as connection:
            connection.execute(_ONE_BY_ONE)
            asked = {"window": admission.window, "parts": admission.parts}
            rows += connection.execute(_ADMIT, asked)
    return sorted({(row.id, Pool(row.pool)) for row in rows})
