"""What the sweeper asks of the database: whose turn it is, what should ring, what has ended."""

from collections.abc import Collection, Sequence
from datetime import timedelta

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.admission import admit
from ppcfetch.adapters.database.closing import close_fetches
from ppcfetch.adapters.database.engine import translated
from ppcfetch.adapters.database.keeping import Keeping, Pruner
from ppcfetch.errors import ConfigurationError
from ppcfetch.model.admission import Admission
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Holder, Limits

_BATCH = 500
_SWEEPER = "sweeper"
_BEHIND_ALL = 2**63 - 1

_TAKE_TURN = text("""
INSERT INTO turns (name, holder, incarnation, expires_at)
VALUES (:name, :holder, :incarnation, clock_timestamp() + CAST(:length AS interval))
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,
    incarnation = excluded.incarnation, expires_at = excluded.expires_at
WHERE (turns.holder, turns.incarnation) = (excluded.holder, excluded.incarnation)
    OR turns.expires_at <= clock_timestamp()
RETURNING holder
""")

# One branch for each pool, so that each reads the index from where the last batch ended.
_UNRUNG = text("""
(
    SELECT 0 AS rank, id, pool FROM jobs
    WHERE pool = 'interactive' AND state IN ('queued', 'running') AND admitted
        AND id > :interactive_after
        AND CASE state WHEN 'queued' THEN due_at <= clock_timestamp()
            ELSE beat_at <= clock_timestamp() - CAST(:lease AS interval) END
    ORDER BY id LIMIT :count
) UNION ALL (
    SELECT 1 AS rank, id, pool FROM jobs
    WHERE pool = 'bulk' AND state IN ('queued', 'running') AND admitted
        AND id > :bulk_after
        AND CASE state WHEN 'queued' THEN due_at <= clock_timestamp()
            ELSE beat_at <= clock_timestamp() - CAST(:lease AS interval) END
    ORDER BY id LIMIT :count
)
ORDER BY rank, id LIMIT :count
""")

_IDLE_FETCHES = text("""
SELECT id FROM fetches
WHERE state = 'active' AND id > :after AND NOT EXISTS (
    SELECT FROM jobs WHERE jobs.fetch_id = fetches.id AND jobs.state IN ('queued', 'running')
)
ORDER BY id LIMIT :count
""")

_EPOCH = text("SELECT value FROM facts WHERE name = 'epoch'")


class PostgresDue:
    """The port `ppcfetch.ports.Due` on PostgreSQL."""

    def __init__(
        self,
        engine: Engine,
        limits: Limits,
        keeping: Keeping,
        admission: Admission = Admission(),  # noqa: B008 -- frozen
    ) -> None:
        self._engine = engine
        self._admission = admission
        self._limits = limits
        self._pruner = Pruner(engine, keeping)

    def take_turn(self, holder: Holder, length: timedelta) -> bool:
        """Take the turn when it is free or expired, keep it when it is ours."""
        turn = {
            "name": _SWEEPER,
            "holder": holder.consumer,
            "incarnation": holder.incarnation,
            "length": length,
        }
        with translated(), self._engine.begin() as connection:
            return connection.scalar(_TAKE_TURN, turn) is not None

    def admit(self, again: Collection[int] = ()) -> Sequence[tuple[int, Pool]]:
        """Let in those whose turn it is."""
        return admit(self._engine, self._admission, again)

    def unrung(self, after: tuple[int, int] | None, count: int) -> Sequence[tuple[int, Pool]]:
        """Give the next jobs that should have a message."""
        rank, job_id = after or (0, 0)
        asked = {
            "interactive_after": job_id if rank == 0 else _BEHIND_ALL,
            "bulk_after": 0 if rank == 0 else job_id,
            "count": count,
            "lease": self._limits.lease,
        }
        with translated(), self._engine.begin() as connection:
            return [(row.id, Pool(row.pool)) for row in connection.execute(_UNRUNG, asked)]

    def close_idle_fetches(self) -> int:
        """End them in batches, each in a transaction of its own."""
        closed, after = 0, 0
        while True:
            with translated(), self._engine.begin() as connection:
                asked = {"after": after, "count": _BATCH}
                idle = connection.scalars(_IDLE_FETCHES, asked).all()
                closed += len(close_fetches(connection, idle))
            if len(idle) < _BATCH:
                return closed
            after = idle[-1]

    def prune(self) -> int:
        """Delete one batch of each kind; what is left waits for the next round."""
        return self._pruner.prune()

    def epoch(self) -> str:
        """Give the value that the first migration drew."""
        with translated(), self._engine.begin() as connection:
            value = connection.scalar(_EPOCH)
        if value is None:
            raise ConfigurationError("the database has lost its epoch; run: ppcfetch db upgrade")
        return str(value)
