"""Calls that a simulated run made of its database, made again of a real one at the same times."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sqlalchemy import text

from ppcfetch.adapters.database.due import PostgresDue
from ppcfetch.adapters.database.fetches import PostgresFetches
from ppcfetch.adapters.database.jobs import PostgresJobs
from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.errors import PpcFetchError
from ppcfetch.model.lease import Limits
from tests.contract.database_rig import RealRig
from tests.fakes_tables import KEEPING
from tests.simulation.wires import Call, Server
from tests.simulation.world import World

GRID_SECONDS = 1.0
SLOWEST_SECONDS = 0.15
NOT_COMPARED = frozenset({"next_incarnation", "epoch", "pause_of"})
"""Their replies differ by nature, or hang on what an operator did behind the ports."""

_SHIFT = text("""
WITH a AS (UPDATE domains SET checked_at = checked_at - :by, attempted_at = attempted_at - :by),
b AS (UPDATE fetches SET asked_at = asked_at - :by, started_at = started_at - :by,
    finished_at = finished_at - :by),
c AS (UPDATE jobs SET due_at = due_at - :by, beat_at = beat_at - :by,
    progressed_at = progressed_at - :by, finished_at = finished_at - :by)
UPDATE turns SET expires_at = expires_at - :by
""")


def calls_of(seed: int) -> tuple[World, list[Call]]:
    """Give a run and the calls that its database answered, in their order."""
    calls: list[Call] = []

    def keep(call: Call) -> None:
        if call.server is Server.DATABASE:
            calls.append(call)

    world = World(seed, record=keep, grid=GRID_SECONDS)
    world.run()
    return world, [call for call in calls if not call.gone and call.name not in NOT_COMPARED]


class RowsPlayer:
    """The ports on a real, empty database whose stored times are kept in step with the run's.

    Shape: was_too_slow tells that a call took so long that times may not have been in step.
    """

    def __init__(self, rig: RealRig, limits: Limits) -> None:
        self._engine = rig.engine
        self._began: float | None = None
        self._shifted = 0.0
        self.was_too_slow = False
        self._ports = (
            PostgresJobs(rig.engine, limits),
            PostgresFetches(rig.engine),
            PostgresDue(rig.engine, limits, KEEPING),
            PostgresPages(rig.engine),
        )

    def play(self, call: Call) -> object:
        """Give the real reply, or the kind of the error."""
        self._align(call.at // GRID_SECONDS * GRID_SECONDS)
        began = time.monotonic()
        try:
            return self._method(call.name)(*call.args, **call.named)
        except PpcFetchError as error:
            return type(error)
        finally:
            self.was_too_slow |= time.monotonic() - began > SLOWEST_SECONDS

    def _method(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = next(
            getattr(port, name) for port in self._ports if hasattr(port, name)
        )
        return found

    def _align(self, at: float) -> None:
        """Let as much time have passed for what is stored as had passed in the run."""
        now = time.monotonic()
        if self._began is None:
            self._began = now - at
        by = at - (now - self._began) - self._shifted
        if by > 0:  # never back: what was due has to stay due
            with self._engine.begin() as connection:
                connection.execute(_SHIFT, {"by": timedelta(seconds=by)})
            self._shifted += by
