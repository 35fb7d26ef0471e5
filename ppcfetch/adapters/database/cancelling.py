"""Ending a fetch now: its active jobs are cancelled, and what was read stays."""

from sqlalchemy import Connection, text

from ppcfetch.adapters.database.closing import close_fetches

_HAS_ACTIVE = text("""
SELECT EXISTS (SELECT FROM jobs WHERE fetch_id = :id AND state IN ('queued', 'running'))
""")

_CANCEL_JOBS = text("""
WITH active AS (
    SELECT id FROM jobs WHERE fetch_id = :id AND state IN ('queued', 'running')
    ORDER BY id
    FOR UPDATE
)
UPDATE jobs SET state = 'cancelled', fence = jobs.fence + 1, finished_at = clock_timestamp()
FROM active WHERE jobs.id = active.id
""")


def cancel_fetch(connection: Connection, fetch_id: int) -> bool:
    """Cancel the active jobs, which ends the fetch; False when there was none to end.

    A job that just ended may have left new ones, by a split or a top-up, while its row was waited
    for: so each round looks anew, and all are cancelled before the fetch is locked.
    """
    while connection.scalar(_HAS_ACTIVE, {"id": fetch_id}):
        connection.execute(_CANCEL_JOBS, {"id": fetch_id})
    return bool(close_fetches(connection, [fetch_id]))
