"""Settle: outcomes of runs written into job rows, each under its fence."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection, text

from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.lease import Lease
from ppcfetch.model.outcome import Dead, Done, HandBack, Leave, Outcome, Rest, RetryLater, Spill

# `found` shows the newest versions of the rows, locked in id order. A row that bears our fence
# and the state that we bring was written by us, and only the answer was lost.
_SETTLE = text("""
WITH told AS (
    SELECT * FROM unnest(
        CAST(:ids AS bigint[]), CAST(:fences AS bigint[]), CAST(:states AS text[]),
        CAST(:pools AS text[]), CAST(:delays AS interval[]), CAST(:attempts AS integer[]),
        CAST(:errors AS text[]), CAST(:waits AS boolean[])
    ) AS told (id, fence, state, pool, delay, attempts, error, waits)
), found AS (
    SELECT told.*, jobs.fetch_id, jobs.state AS old_state
    FROM jobs JOIN told ON told.id = jobs.id AND told.fence = jobs.fence
    ORDER BY jobs.id
    FOR UPDATE OF jobs
), written AS (
    UPDATE jobs SET
        state = found.state,
        pool = coalesce(found.pool, jobs.pool),
        admitted = jobs.admitted AND NOT found.waits,
        due_at = CASE found.state
            WHEN 'queued' THEN clock_timestamp() + found.delay ELSE jobs.due_at END,
        finished_at = CASE WHEN found.state <> 'queued' THEN clock_timestamp() END,
        attempts = jobs.attempts + found.attempts,
        starts = CASE WHEN found.state = 'queued' AND NOT jobs.start_given_back
            THEN greatest(jobs.starts - 1, 0) ELSE jobs.starts END,
        start_given_back = jobs.start_given_back OR found.state = 'queued',
        error = coalesce(found.error, jobs.error)
    FROM found
    WHERE jobs.id = found.id AND found.old_state = 'running'
)
SELECT id, fetch_id, state FROM found WHERE old_state IN ('running', state)
""")


@dataclass(frozen=True, slots=True)
class Settled:
    """The jobs whose row says what was told, and the fetches of those that ended."""

    job_ids: frozenset[int]
    ended_fetches: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Change:
    """What an outcome changes.

    Shape: pool None leaves it; attempts are added; waits puts it back in the line of its asker.
    """

    state: JobState
    pool: Pool | None = None
    delay: timedelta = timedelta(0)
    attempts: int = 0
    error: str | None = None
    waits: bool = False


def settle_outcomes(connection: Connection, outcomes: Sequence[tuple[Lease, Outcome]]) -> Settled:
    """Write the outcomes in one statement; starts are given back where a job is queued again."""
    changes = [_change(outcome) for _, outcome in outcomes]
    rows = connection.execute(
        _SETTLE,
        {
            "ids": [lease.job.id for lease, _ in outcomes],
            "fences": [lease.fence for lease, _ in outcomes],
            "states": [str(change.state) for change in changes],
            "pools": [change.pool and str(change.pool) for change in changes],
            "delays": [change.delay for change in changes],
            "attempts": [change.attempts for change in changes],
            "errors": [change.error for change in changes],
            "waits": [change.waits for change in changes],
        },
    ).all()
    return Settled(
        job_ids=frozenset(row.id for row in rows),
        ended_fetches=frozenset(row.fetch_id for row in rows if row.state != JobState.QUEUED),
    )


def _change(outcome: Outcome) -> _Change:
    match outcome:
        case RetryLater(delay, error):
            return _Change(JobState.QUEUED, delay=delay, attempts=1, error=error, waits=True)
        case Rest(delay, error):
            return _Change(JobState.QUEUED, delay=delay, error=error, waits=True)
        case HandBack():
            return _Change(JobState.QUEUED)
        case Spill():
            return _Change(JobState.QUEUED, pool=Pool.BULK, waits=True)
        case Dead(error):
            return _Change(JobState.DEAD, error=error)
        case Done():
            return _Change(JobState.DONE)
        case Leave(why):
            raise ValueError(f"a lease that is left has no outcome to write: {why}")
