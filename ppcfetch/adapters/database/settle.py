"""Settle: outcomes of runs written into job rows, each under its fence."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from ppcfetch.adapters.database.closing import ask_about, end_fetches
from ppcfetch.adapters.database.driver import BEGIN, COMMIT, Raw, array, ask
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.lease import Lease
from ppcfetch.model.outcome import Dead, Done, HandBack, Leave, Outcome, Rest, RetryLater, Spill

# `found` shows the newest versions of the rows, locked in id order. A row that bears our fence
# and the state that we bring was written by us, and only the answer was lost.
_SETTLE = b"""
WITH told AS (
    SELECT * FROM unnest(
        CAST(%(ids)s AS bigint[]), CAST(%(fences)s AS bigint[]), CAST(%(states)s AS text[]),
        CAST(%(pools)s AS text[]), CAST(%(delays)s AS interval[]), CAST(%(attempts)s AS integer[]),
        CAST(%(errors)s AS text[]), CAST(%(waits)s AS boolean[])
    ) AS told (id, fence, state, pool, delay, attempts, error, waits)
), found AS (
    SELECT told.*, jobs.state AS old_state
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
SELECT id FROM found WHERE old_state IN ('running', state)
"""


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


def settle_outcomes(raw: Raw, outcomes: Sequence[tuple[Lease, Outcome]]) -> frozenset[int]:
    """Write the outcomes and end the fetches that end with them; gives what `Jobs.settle` gives.

    Shape: starts are given back where a job is queued again. Everything until the answer about the
    fetches is asked in one round trip, everything after it in a second one. A fetch is asked for
    even if its job's row turns out not to be ours: whether it is over does not depend on us.
    """
    changes = [_change(outcome) for _, outcome in outcomes]
    fetch_ids = {
        lease.job.fetch_id
        for (lease, _), change in zip(outcomes, changes, strict=True)
        if change.state is not JobState.QUEUED
    }
    with raw.pipeline():
        raw.execute(BEGIN)
        settled = ask(raw, _SETTLE, _told(outcomes, changes))
        asked = ask_about(raw, fetch_ids) if fetch_ids else None
    with raw.pipeline():
        if asked is not None:
            end_fetches(raw, asked)
        raw.execute(COMMIT)
    return frozenset(row.id for row in settled)


def _told(
    outcomes: Sequence[tuple[Lease, Outcome]], changes: Sequence["_Change"]
) -> dict[str, str]:
    return {
        "ids": array(lease.job.id for lease, _ in outcomes),
        "fences": array(lease.fence for lease, _ in outcomes),
        "states": array(change.state.value for change in changes),
        "pools": array(change.pool and change.pool.value for change in changes),
        "delays": array(f"{change.delay.total_seconds():f} s" for change in changes),
        "attempts": array(change.attempts for change in changes),
        "errors": array(change.error for change in changes),
        "waits": array(change.waits for change in changes),
    }


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
