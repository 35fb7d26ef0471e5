"""The end of a job: whether its fetch ends with it, and how.

Everybody locks jobs first, in id order, then domains by name, then fetches by id. Whoever ends a
job does so first and calls `close_fetches` in the same transaction: the lock on the fetch lets
only one of two last jobs through at a time, and the count is a statement of its own, so that the
second one sees the end of the first (READ COMMITTED).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from ppcfetch.adapters.database.codes import FORMATS
from ppcfetch.adapters.database.driver import Cursor, Raw, array, ask, driver
from ppcfetch.model.fetch import FetchKind, FetchState, has_shrunk, outcome_of
from ppcfetch.model.job import JobKind
from ppcfetch.model.walk_words import told_of_dead, walk_in_words

MOST_TOP_UPS = 20
"""Top-ups of one fetch at most: an archive that changes faster is left to the next fetch."""
FEWEST_TOP_UPS = 3
"""So many follow as long as they are longer than a page, even when they find nothing more."""

# The condition on the domains is settled before the first fetch is read: so they are locked first.
_LOCK = b"""
WITH locked AS MATERIALIZED (
    SELECT domain FROM domains
    WHERE domain IN (SELECT domain FROM fetches WHERE id = ANY(CAST(%(ids)s AS bigint[])))
    ORDER BY domain
    FOR NO KEY UPDATE
)
SELECT id, state FROM fetches
WHERE id = ANY(CAST(%(ids)s AS bigint[])) AND (SELECT count(*) FROM locked) >= 0
ORDER BY id
FOR UPDATE OF fetches
"""

_COUNT_JOBS = b"""
SELECT counted.*, gone.kind AS dead_kind, gone.format, gone.first_day, gone.last_day, gone.error
FROM (SELECT asked.id,
    count(*) FILTER (WHERE jobs.state IN ('queued', 'running')) AS active,
    count(*) FILTER (WHERE jobs.state = 'done') AS done,
    count(*) FILTER (WHERE jobs.state = 'dead') AS dead,
    count(*) FILTER (WHERE jobs.state = 'cancelled') AS cancelled,
    fetches.kind, fetches.found, coalesce(domains.walked_ads, domains.ads - fetches.new) AS before,
    fetches.in_order AND fetches.start_mark IS NOT NULL AND fetches.pages > 1 AS may_top_up,
    min(jobs.id) FILTER (WHERE jobs.state = 'dead') AS first_dead
FROM unnest(CAST(%(ids)s AS bigint[])) AS asked (id)
JOIN fetches ON fetches.id = asked.id
JOIN domains ON domains.domain = fetches.domain
LEFT JOIN jobs ON jobs.fetch_id = asked.id
GROUP BY asked.id, fetches.id, domains.domain
) counted LEFT JOIN jobs gone ON gone.id = counted.first_dead
ORDER BY counted.id
"""

# Ads that are shown while a walk is on its way move to the top, behind its back. A walk of one page
# is a look at one moment; whatever was longer is followed by a walk from the top down to where
# the one before began, until one of those is a look at one moment too, or finds nothing more. It
# keeps the place in line of the walk before: the first of many domains ends first.
_TOP_UP = b"""
INSERT INTO jobs (fetch_id, kind, pool, domain, until, asker, admitted, created_at, due_at)
SELECT fetches.id, 'top up', latest.pool, fetches.domain,
    CASE latest.kind WHEN 'top up' THEN coalesce(latest.newest, latest.until)
        ELSE fetches.start_mark END,
    latest.asker, false, clock_timestamp(), latest.due_at
FROM fetches
CROSS JOIN LATERAL (
    SELECT kind, pool, asker, pages, fresh, newest, until, due_at FROM jobs
    WHERE fetch_id = fetches.id ORDER BY id DESC LIMIT 1
) latest
CROSS JOIN LATERAL (
    SELECT count(*) AS number FROM jobs WHERE fetch_id = fetches.id AND kind = 'top up'
) done
WHERE fetches.id = ANY(CAST(%(ids)s AS bigint[]))
    AND fetches.in_order AND fetches.start_mark IS NOT NULL
    AND CASE latest.kind
        WHEN 'top up' THEN latest.pages > 1 AND done.number < %(most)s
            AND (latest.fresh > 0 OR done.number < %(fewest)s)
        ELSE fetches.pages > 1 END
RETURNING fetch_id
"""

# Each ad of the domain was seen by this fetch or it was not, and `found` counts every ad that it
# saw once: the rest is the number of unseen ones, without counting two million rows.
# A refresh does not look at them all, what moved in a walk out of order or on and on may have been
# missed, and what shrank cannot be believed: nobody knows then.
# A retried job may end an older fetch after a newer one: the newest complete one stays, and so
# does its mark.
_END_FETCHES = b"""
WITH over AS (
    UPDATE fetches SET
        state = ended.state,
        finished_at = clock_timestamp(),
        error = ended.error,
        shrunk = ended.shrunk,
        unseen = CASE
            WHEN ended.state = 'done' AND fetches.kind = 'full' AND fetches.in_order
                AND NOT ended.shrunk
                AND (SELECT count(*) FROM jobs WHERE fetch_id = fetches.id AND kind = 'top up')
                    < %(most)s
            THEN greatest(domains.ads - fetches.found, 0) END
    FROM unnest(
            CAST(%(ids)s AS bigint[]), CAST(%(states)s AS text[]), CAST(%(errors)s AS text[]),
            CAST(%(shrunk)s AS boolean[])
        ) AS ended (id, state, error, shrunk),
        domains
    WHERE fetches.id = ended.id AND domains.domain = fetches.domain
    RETURNING fetches.id, fetches.domain, fetches.state, fetches.finished_at,
        fetches.total_lower, fetches.total_upper, fetches.found,
        CASE WHEN fetches.in_order AND NOT ended.shrunk THEN fetches.start_mark END AS mark,
        fetches.kind = 'full' AND NOT ended.shrunk AS walked,
        ended.state = 'done' AND fetches.id >= coalesce(domains.complete_fetch_id, 0) AS newest
)
UPDATE domains SET
    attempted_at = over.finished_at,
    checked_at = CASE WHEN over.state = 'done' THEN over.finished_at ELSE domains.checked_at END,
    complete_fetch_id = CASE WHEN over.state = 'done'
        THEN greatest(domains.complete_fetch_id, over.id) ELSE domains.complete_fetch_id END,
    mark = CASE WHEN over.newest THEN over.mark ELSE domains.mark END,
    walked_at = CASE WHEN over.newest AND over.walked
        THEN over.finished_at ELSE domains.walked_at END,
    walked_ads = CASE WHEN over.newest AND over.walked THEN over.found ELSE domains.walked_ads END,
    total_lower = coalesce(over.total_lower, domains.total_lower),
    total_upper = coalesce(over.total_upper, domains.total_upper)
FROM over WHERE domains.domain = over.domain
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """The question which fetches are over; in a pipeline its answers may be on their way."""

    locked: Cursor
    counted: Cursor


def close_fetches(connection: Connection, fetch_ids: Collection[int]) -> frozenset[int]:
    """End those active fetches that have no active job left; gives the ids of the ended ones.

    Where ads may have moved behind a walk's back, a job that tops up is queued instead.

    Call it inside the transaction that ended the jobs, after their rows were written. The
    caller may hold the domain's row already, and the fetch's only after the domain's.
    """
    if not fetch_ids:
        return frozenset()
    with driver(connection) as raw:
        with raw.pipeline():
            asked = ask_about(raw, fetch_ids)
        return end_fetches(raw, asked)


def ask_about(raw: Raw, fetch_ids: Collection[int]) -> Asked:
    """Lock fetches, then, as a new statement, count their jobs; may be sent in one pipeline."""
    told = {"ids": array(sorted(set(fetch_ids)))}
    return Asked(locked=ask(raw, _LOCK, told), counted=ask(raw, _COUNT_JOBS, told))


def end_fetches(raw: Raw, asked: Asked) -> frozenset[int]:
    """End the active fetches that are over; gives their ids. See `close_fetches`."""
    active = _active(asked.locked)
    over = [row for row in asked.counted if row.id in active and not row.active]
    whole = [row.id for row in over if row.may_top_up and _state_of(row) is FetchState.DONE]
    going_on = _top_up(raw, whole) if whole else frozenset()
    over = [row for row in over if row.id not in going_on]
    if over:
        _end(raw, over)
    return frozenset(row.id for row in over)


def lock_fetches(connection: Connection, fetch_ids: Collection[int]) -> frozenset[int]:
    """Lock fetches, and before them their domains, in everybody's order; gives the active ones."""
    with driver(connection) as raw:
        return _active(ask(raw, _LOCK, {"ids": array(fetch_ids)}))


def _active(locked: Cursor) -> frozenset[int]:
    return frozenset(row.id for row in locked if row.state == FetchState.ACTIVE)


def _top_up(raw: Raw, ids: Sequence[int]) -> frozenset[int]:
    told = {"ids": array(ids), "most": MOST_TOP_UPS, "fewest": FEWEST_TOP_UPS}
    return frozenset(row.fetch_id for row in ask(raw, _TOP_UP, told))


def _end(raw: Raw, over: Sequence[Any]) -> None:
    told = {
        "ids": array(row.id for row in over),
        "states": array(_state_of(row).value for row in over),
        "errors": array(_error_of(row) for row in over),
        "shrunk": array(_has_shrunk(row) for row in over),
        "most": MOST_TOP_UPS,
    }
    ask(raw, _END_FETCHES, told)


def _state_of(row: Any) -> FetchState:
    if not row.done + row.dead + row.cancelled:
        return FetchState.FAILED  # its jobs were deleted by hand: nobody can say that it is done
    return outcome_of(row.done, row.dead, row.cancelled)


def _has_shrunk(row: Any) -> bool:
    if row.kind != FetchKind.FULL or _state_of(row) is not FetchState.DONE:
        return False
    return has_shrunk(row.found, row.before)


def _error_of(row: Any) -> str | None:
    if not row.done + row.dead + row.cancelled:
        return "its jobs are gone"
    if row.cancelled or not row.dead:
        return None
    wanted = None if row.format is None else FORMATS[row.format]
    what = walk_in_words(JobKind(row.dead_kind), wanted, row.first_day, row.last_day)
    return told_of_dead(what, row.error, dead=row.dead)
