"""Take leases: the one statement that decides who may work on a job.

Rows are locked in id order while `found` is read; `found` therefore shows their newest versions,
also of rows that another process had locked, and the verdict is reached on those.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, text

from ppcfetch.adapters.database.closing import close_fetches, lock_fetches
from ppcfetch.adapters.database.driver import Raw, array, ask, driver
from ppcfetch.adapters.database.rows import JOB_COLUMNS, job_of
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Holder, Lease, Limits, Refusal, Refused
from ppcfetch.ports import Taking

_COLUMNS = ", ".join(f"jobs.{name.strip()}" for name in JOB_COLUMNS.split(","))

_TAKE = f"""
WITH asked AS (
    SELECT id, request
    FROM unnest(CAST(%(ids)s AS bigint[]), CAST(%(requests)s AS text[])) AS asked (id, request)
), found AS (
    SELECT {_COLUMNS}, asked.request AS asked_request,
        jobs.due_at <= clock_timestamp() AS due,
        CASE
            -- This very request was granted, and its answer lost: the same answer again.
            WHEN jobs.request = asked.request AND jobs.holder = %(consumer)s
                AND jobs.incarnation = %(incarnation)s AND jobs.state IN ('running', 'dead')
            THEN CASE jobs.state WHEN 'running' THEN 'leased' ELSE 'used up' END
            WHEN jobs.state NOT IN ('queued', 'running') THEN 'settled'
            WHEN jobs.state = 'queued' AND NOT jobs.admitted THEN 'not due'
            WHEN jobs.pool <> %(pool)s THEN 'other pool'
            WHEN jobs.state = 'queued' AND jobs.due_at > clock_timestamp() THEN 'not due'
            WHEN jobs.state = 'running'
                AND NOT (jobs.holder = %(consumer)s AND jobs.incarnation < %(incarnation)s)
                AND jobs.beat_at > clock_timestamp() - CAST(%(lease)s AS interval)
            THEN 'held'
            WHEN jobs.starts >= %(max_starts)s THEN 'dies'
            ELSE 'free'
        END AS verdict
    FROM jobs JOIN asked ON asked.id = jobs.id
    ORDER BY jobs.id
    FOR UPDATE OF jobs
), taken AS (
    UPDATE jobs SET
        state = CASE found.verdict WHEN 'free' THEN 'running' ELSE 'dead' END,
        fence = jobs.fence + 1,
        starts = jobs.starts + CASE found.verdict WHEN 'free' THEN 1 ELSE 0 END,
        start_given_back = false,
        holder = %(consumer)s,
        incarnation = %(incarnation)s,
        request = found.asked_request,
        beat_at = clock_timestamp(),
        taken_at = CASE found.verdict WHEN 'free' THEN clock_timestamp() ELSE jobs.taken_at END,
        finished_at = CASE found.verdict WHEN 'dies' THEN clock_timestamp() END,
        error = CASE found.verdict
            WHEN 'dies' THEN format('started %%s times without storing a page', jobs.starts)
            ELSE jobs.error
        END
    FROM found
    WHERE jobs.id = found.id AND found.verdict = ANY(CAST(%(written)s AS text[]))
    RETURNING {_COLUMNS}, found.verdict
), starting AS (
    -- Where a job dies its domain has to be locked before any fetch: `_pass_on_to_fetches`.
    SELECT fetches.id FROM fetches
    WHERE fetches.id IN (SELECT fetch_id FROM taken) AND fetches.started_at IS NULL
        AND NOT EXISTS (SELECT FROM taken WHERE verdict = 'dies')
    ORDER BY fetches.id
    FOR UPDATE OF fetches
), started AS (
    UPDATE fetches SET started_at = clock_timestamp() FROM starting WHERE fetches.id = starting.id
)
SELECT {JOB_COLUMNS}, verdict FROM taken
UNION ALL
SELECT {JOB_COLUMNS}, verdict FROM found WHERE verdict <> ALL(CAST(%(written)s AS text[]))
""".encode()  # noqa: S608 -- column names of our own

_START_FETCHES = text("""
UPDATE fetches SET started_at = clock_timestamp()
WHERE id = ANY(CAST(:ids AS bigint[])) AND started_at IS NULL
""")

_LEASED = frozenset({"free", "leased"})
_REFUSALS = {
    "settled": Refusal.SETTLED,
    "other pool": Refusal.OTHER_POOL,
    "not due": Refusal.NOT_DUE,
    "held": Refusal.HELD,
    "dies": Refusal.EXHAUSTED,
    "used up": Refusal.EXHAUSTED,
}


def take_leases(
    raw: Raw, takings: Sequence[Taking], *, holder: Holder, pool: Pool, limits: Limits
) -> dict[int, Lease | Refused]:
    """Give one answer for each job id, as `ppcfetch.ports.Jobs.take` says, in one statement.

    Shape: a job whose starts are used up is left as it is, though refused as such: ask for those
    again with `bury_used_up`, in a transaction, since fetches may end.
    """
    rows = _take(raw, takings, ["free"], holder=holder, pool=pool, limits=limits)
    return _answers(takings, rows, holder)


def bury_used_up(
    connection: Connection,
    takings: Sequence[Taking],
    *,
    holder: Holder,
    pool: Pool,
    limits: Limits,
) -> dict[int, Lease | Refused]:
    """Give answers as `take_leases`, and end the jobs that it left, with their fetches."""
    with driver(connection) as raw:
        rows = _take(raw, takings, ["free", "dies"], holder=holder, pool=pool, limits=limits)
    _pass_on_to_fetches(connection, rows)
    return _answers(takings, rows, holder)


def _take(
    raw: Raw,
    takings: Sequence[Taking],
    written: Sequence[str],
    *,
    holder: Holder,
    pool: Pool,
    limits: Limits,
) -> Sequence[Any]:
    asked = {taking.job_id: taking.request for taking in takings}
    told = {
        "ids": array(asked),
        "requests": array(asked.values()),
        "consumer": holder.consumer,
        "incarnation": holder.incarnation,
        "pool": pool.value,
        "lease": limits.lease,
        "max_starts": limits.max_starts,
        "written": array(written),
    }
    return ask(raw, _TAKE, told).fetchall()


def _answers(
    takings: Sequence[Taking], rows: Sequence[Any], holder: Holder
) -> dict[int, Lease | Refused]:
    answers: dict[int, Lease | Refused] = {
        taking.job_id: Refused(taking.job_id, Refusal.UNKNOWN) for taking in takings
    }
    return answers | {row.id: _answer(row, holder) for row in rows}


def _answer(row: Any, holder: Holder) -> Lease | Refused:
    if row.verdict in _LEASED:
        return Lease(job_of(row), row.fence, holder)
    return Refused(row.id, _REFUSALS[row.verdict], Pool(row.pool))


def _pass_on_to_fetches(connection: Connection, rows: Sequence[Any]) -> None:
    """End the fetches whose last job died just now; only then others start here, not above."""
    dying = {row.fetch_id for row in rows if row.verdict == "dies"}
    if dying:
        leased = {row.fetch_id for row in rows if row.verdict in _LEASED}
        lock_fetches(connection, leased | dying)
        connection.execute(_START_FETCHES, {"ids": sorted(leased)})
        close_fetches(connection, dying)
