"""The end of a job: whether its fetch ends with it, and how.

Everybody locks jobs first, in id order, then domains by name, then fetches by id. Whoever ends a
job does so first and calls `close_fetches` in the same transaction: the lock on the fetch lets
only one of two last jobs through at a time, and the count is a statement of its own, so that the
second one sees the end of the first (READ COMMITTED).
"""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, text

from ppcfetch.model.fetch import FetchState, outcome_of

# The condition on the domains is settled before the first fetch is read: so they are locked first.
_LOCK = text("""
WITH locked AS MATERIALIZED (
    SELECT domain FROM domains
    WHERE domain IN (SELECT domain FROM fetches WHERE id = ANY(CAST(:ids AS bigint[])))
    ORDER BY domain
    FOR NO KEY UPDATE
)
SELECT id, state FROM fetches
WHERE id = ANY(CAST(:ids AS bigint[])) AND (SELECT count(*) FROM locked) >= 0
ORDER BY id
FOR UPDATE OF fetches
""")

_COUNT_JOBS = text("""
SELECT asked.id,
    count(*) FILTER (WHERE jobs.state IN ('queued', 'running')) AS active,
    count(*) FILTER (WHERE jobs.state = 'done') AS done,
    count(*) FILTER (WHERE jobs.state = 'dead') AS dead,
    count(*) FILTER (WHERE jobs.state = 'cancelled') AS cancelled,
    (array_agg(jobs.error ORDER BY jobs.id) FILTER (WHERE jobs.state = 'dead'))[1] AS error
FROM unnest(CAST(:ids AS bigint[])) AS asked (id)
LEFT JOIN jobs ON jobs.fetch_id = asked.id
GROUP BY asked.id
ORDER BY asked.id
""")

# Each ad of the domain was seen by this fetch or it was not, and `found` counts every ad that it
# saw once: the rest is the number of unseen ones, without counting two million rows.
# A retried job may end an older fetch after a newer one: the newest complete one stays.
_END_FETCHES = text("""
WITH over AS (
    UPDATE fetches SET
        state = ended.state,
        finished_at = clock_timestamp(),
        error = ended.error,
        unseen = CASE WHEN ended.state = 'done' THEN greatest(domains.ads - fetches.found, 0) END
    FROM unnest(
            CAST(:ids AS bigint[]), CAST(:states AS text[]), CAST(:errors AS text[])
        ) AS ended (id, state, error),
        domains
    WHERE fetches.id = ended.id AND domains.domain = fetches.domain
    RETURNING fetches.id, fetches.domain, fetches.state, fetches.finished_at,
        fetches.total_lower, fetches.total_upper
)
UPDATE domains SET
    attempted_at = over.finished_at,
    checked_at = CASE WHEN over.state = 'done' THEN over.finished_at ELSE domains.checked_at END,
    complete_fetch_id = CASE WHEN over.state = 'done'
        THEN greatest(domains.complete_fetch_id, over.id) ELSE domains.complete_fetch_id END,
    total_lower = coalesce(over.total_lower, domains.total_lower),
    total_upper = coalesce(over.total_upper, domains.total_upper)
FROM over WHERE domains.domain = over.domain
""")


def close_fetches(connection: Connection, fetch_ids: Collection[int]) -> frozenset[int]:
    """End those active fetches that have no active job left; gives the ids of the ended ones.

    Call it inside the transaction that ended the jobs, after their rows were written. The
    caller may hold the domain's row already, and the fetch's only after the domain's.
    """
    ids = sorted(set(fetch_ids))
    if not ids:
        return frozenset()
    active = lock_fetches(connection, ids)
    over = [row for row in connection.execute(_COUNT_JOBS, {"ids": active}) if not row.active]
    if over:
        _end(connection, over)
    return frozenset(row.id for row in over)


def lock_fetches(connection: Connection, fetch_ids: Collection[int]) -> Sequence[int]:
    """Lock fetches, and before them their domains, in everybody's order; gives the active ones."""
    ids = list(fetch_ids)
    rows = connection.execute(_LOCK, {"ids": ids}).all()
    return [row.id for row in rows if row.state == FetchState.ACTIVE]


def _end(connection: Connection, over: Sequence[Row[Any]]) -> None:
    ids = [row.id for row in over]
    states = [_state_of(row) for row in over]
    errors = [_error_of(row) for row in over]
    connection.execute(_END_FETCHES, {"ids": ids, "states": states, "errors": errors})


def _state_of(row: Row[Any]) -> FetchState:
    if not row.done + row.dead + row.cancelled:
        return FetchState.FAILED  # its jobs were deleted by hand: nobody can say that it is done
    return outcome_of(row.done, row.dead, row.cancelled)


def _error_of(row: Row[Any]) -> str | None:
    if not row.done + row.dead + row.cancelled:
        return "its jobs are gone"
    return None if row.cancelled else row.error
