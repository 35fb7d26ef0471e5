"""Pauses of pools: one row while a pool is paused."""

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.audit import note
from ppcfetch.adapters.database.engine import translated
from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Deed, Pause, pool_target

_OF = text("SELECT paused_at, paused_by, reason FROM pauses WHERE pool = :pool")

_PAUSE = text("""
INSERT INTO pauses (pool, paused_at, paused_by, reason)
VALUES (:pool, clock_timestamp(), :by, :reason)
ON CONFLICT (pool) DO NOTHING
""")

_RESUME = text("DELETE FROM pauses WHERE pool = :pool")


class PostgresPauses:
    """The port `ppcfetch.ports.Pauses` on PostgreSQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def pause_of(self, pool: Pool) -> Pause | None:
        """Read the pool's row by its key."""
        with translated(), self._engine.begin() as connection:
            row = connection.execute(_OF, {"pool": str(pool)}).one_or_none()
        return None if row is None else Pause(pool, row.paused_at, row.paused_by, row.reason)

    def pause(self, pool: Pool, deed: Deed) -> bool:
        """Add the pool's row; an older pause stays as it is."""
        with translated(), self._engine.begin() as connection:
            values = {"pool": str(pool), "by": deed.who, "reason": deed.reason}
            if not connection.execute(_PAUSE, values).rowcount:
                return False
            note(connection, deed, pool_target(pool))
            return True

    def resume(self, pool: Pool, deed: Deed) -> bool:
        """Delete the pool's row."""
        with translated(), self._engine.begin() as connection:
            if not connection.execute(_RESUME, {"pool": str(pool)}).rowcount:
                return False
            note(connection, deed, pool_target(pool))
            return True
