"""What stands between an active fetch and its next page."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, text

from ppcfetch.model.fetch import Fetch, FetchState
from ppcfetch.model.page import Waiting

_LOOKED_AT = 1000
"""The most jobs of a pool that are counted for a place in line."""

_RECENT = 400
_SAMPLE = 50

_NEXT_JOB = text("""
SELECT id, pool, state, due_at, error, asker, admitted FROM jobs
WHERE fetch_id = :fetch AND state IN ('queued', 'running')
ORDER BY state = 'running' DESC, due_at, id LIMIT 1
""")

# What is let in, and before that its asker's own line: others take turns with him.
_AHEAD = text("""
SELECT count(*) FROM (
    SELECT id, due_at, state FROM jobs
    WHERE pool = :pool AND state IN ('queued', 'running') AND admitted
    ORDER BY id LIMIT :looked_at
) line
WHERE state = 'queued' AND (NOT :admitted OR (due_at, id) < (:due_at, :id))
""")
_AHEAD_IN_LINE = text("""
SELECT count(*) FROM (
    SELECT FROM jobs
    WHERE pool = :pool AND asker = :asker AND state = 'queued' AND NOT admitted
        AND parent_id IS NULL AND (due_at, id) < (:due_at, :id)
    LIMIT :looked_at
) line
""")

# A worker without work gives no sign but the sweeper's turn, which one of them always holds.
_WORKERS = text("""
SELECT count(*) FROM (
    SELECT holder FROM jobs
    WHERE pool = :pool AND state = 'running'
        AND beat_at > clock_timestamp() - CAST(:lease AS interval)
    UNION
    SELECT holder FROM turns WHERE expires_at > clock_timestamp()
) alive
""")

_TYPICAL = text("""
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY took) FROM (
    SELECT jobs.finished_at - fetches.started_at AS took
    FROM (
        SELECT fetch_id, finished_at, pool FROM jobs
        WHERE state = 'done'
        ORDER BY finished_at DESC LIMIT :recent
    ) jobs
    JOIN fetches ON fetches.id = jobs.fetch_id
    WHERE jobs.pool = :pool AND fetches.started_at IS NOT NULL
    ORDER BY jobs.finished_at DESC LIMIT :sample
) last
""")


def waiting_of(
    connection: Connection, fetch: Fetch | None, now: datetime, lease: timedelta
) -> Waiting:
    """Tell what a fetch waits for; nothing when it is not active."""
    if fetch is None or fetch.state is not FetchState.ACTIVE:
        return Waiting()
    job = connection.execute(_NEXT_JOB, {"fetch": fetch.id}).one_or_none()
    if job is None or job.state == "running":
        return Waiting()
    if job.due_at > now:
        return Waiting(resumes_at=job.due_at, error=job.error)
    return _in_line(connection, job, lease)


def _in_line(connection: Connection, job: Row[Any], lease: timedelta) -> Waiting:
    place = {"pool": job.pool, "due_at": job.due_at, "id": job.id, "looked_at": _LOOKED_AT}
    ahead = connection.execute(_AHEAD, {**place, "admitted": job.admitted}).scalar_one()
    if not job.admitted:
        ahead += connection.execute(_AHEAD_IN_LINE, {**place, "asker": job.asker}).scalar_one()
    alive = {"pool": job.pool, "lease": lease}
    last = {"pool": job.pool, "recent": _RECENT, "sample": _SAMPLE}
    return Waiting(
        ahead=ahead,
        workers=connection.execute(_WORKERS, alive).scalar_one(),
        typical=connection.execute(_TYPICAL, last).scalar_one(),
        error=job.error,
    )
