"""What PostgreSQL says of itself, for the doctor, and how many jobs there are, for the status."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from alembic.migration import MigrationContext
from sqlalchemy import Engine, text

from ppcfetch.adapters.database import migrate
from ppcfetch.adapters.database.engine import translated
from ppcfetch.model.health import DatabaseFacts
from ppcfetch.model.job import Pool
from ppcfetch.model.queue_health import SweeperTurn

_ASK = text("""
SELECT current_setting('server_version') AS version, clock_timestamp() AS now,
    current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off' AS durable,
    EXISTS (
        SELECT FROM pg_roles
        WHERE rolname = 'ppcfetch_reader' AND pg_has_role(current_user, oid, 'MEMBER')
    ) AS reader_role
""")

_LOOKED_AT = 1000
"""The most ended jobs that are asked for their last page; older ones say nothing of today."""

_POOLS = text(f"""
WITH kept AS (
    SELECT pool,
        count(*) FILTER (WHERE state = 'queued' AND admitted AND due_at <= now()) AS due,
        count(*) FILTER (WHERE state = 'queued' AND NOT admitted AND due_at <= now()) AS waiting,
        count(*) FILTER (WHERE state = 'queued' AND due_at > now()) AS not_yet_due,
        count(*) FILTER (WHERE state = 'running') AS running,
        count(*) FILTER (WHERE state = 'dead' AND discarded_at IS NULL) AS dead,
        min(greatest(due_at, created_at)) FILTER (WHERE state = 'queued' AND due_at <= now())
            AS oldest,
        max(progressed_at) AS progressed
    FROM jobs
    WHERE state IN ('queued', 'running', 'dead')
    GROUP BY pool
), ended AS (
    SELECT pool, max(progressed_at) AS progressed FROM (
        SELECT pool, progressed_at FROM jobs WHERE state IN ('done', 'cancelled')
        ORDER BY finished_at DESC, id DESC LIMIT {_LOOKED_AT}
    ) newest
    GROUP BY pool
)
SELECT pool, coalesce(due, 0) AS due, coalesce(waiting, 0) AS waiting,
    coalesce(not_yet_due, 0) AS not_yet_due,
    coalesce(running, 0) AS running, coalesce(dead, 0) AS dead, now() - oldest AS oldest,
    now() - greatest(kept.progressed, ended.progressed) AS progressed
FROM kept FULL JOIN ended USING (pool)
""")  # noqa: S608 -- our own names


_SWEEPER = text("""
SELECT holder, expires_at - clock_timestamp() AS remaining FROM turns WHERE name = 'sweeper'
""")


@dataclass(frozen=True, slots=True)
class PoolRows:
    """How many jobs a pool has, by the rows.

    Shape: waiting counts those that are due and wait for their turn; oldest is how long the oldest
    due job has waited, progressed how long ago the last page was stored; None when there is none,
    or none of late.
    """

    pool: Pool
    due: int = 0
    waiting: int = 0
    not_yet_due: int = 0
    running: int = 0
    dead: int = 0
    oldest: timedelta | None = None
    progressed: timedelta | None = None


def database_facts(engine: Engine) -> DatabaseFacts:
    """Ask for everything that the doctor judges. Raises: DatabaseUnavailable."""
    with translated(), engine.connect() as connection:
        before = datetime.now(UTC)
        row = connection.execute(_ASK).one()
        revision = MigrationContext.configure(connection).get_current_revision()
    return DatabaseFacts(
        version=row.version,
        revision=revision,
        head=migrate.head(),
        ahead=revision is not None and revision not in migrate.revisions(),
        offset=row.now - before,
        reader_role=row.reader_role,
        durable=row.durable,
    )


def pool_rows(engine: Engine) -> list[PoolRows]:
    """Count the jobs of each pool. Raises: DatabaseUnavailable."""
    with translated(), engine.connect() as connection:
        rows = {row.pool: row for row in connection.execute(_POOLS)}
    return [
        PoolRows(
            pool=pool,
            due=row.due,
            waiting=row.waiting,
            not_yet_due=row.not_yet_due,
            running=row.running,
            dead=row.dead,
            oldest=row.oldest,
            progressed=row.progressed,
        )
        if (row := rows.get(pool.value)) is not None
        else PoolRows(pool)
        for pool in Pool
    ]


def sweeper_turn(engine: Engine) -> SweeperTurn | None:
    """Give whose turn it is to sweep, None when nobody ever had it. Raises: DatabaseUnavailable."""
    with translated(), engine.connect() as connection:
        row = connection.execute(_SWEEPER).one_or_none()
    return None if row is None else SweeperTurn(row.holder, row.remaining)
