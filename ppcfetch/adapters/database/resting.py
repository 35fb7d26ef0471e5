"""Which pooled connections to ask whether they live before they are lent again.

A question before each use costs a worker one round trip and half a millisecond of its own time in
each step of the protocol, to learn what the step itself would have told. So only those are asked
that rested, or that lay in the pool when another one turned out to be broken: after a restart of
the database one step fails, and its caller, who repeats it, gets a new connection.
"""

import time
from collections.abc import Callable
from typing import Any

import psycopg
from sqlalchemy import Engine, event, exc
from sqlalchemy.pool import ConnectionPoolEntry

REST_SECONDS = 5.0
_SEEN = "last seen alive"


def ping_after_rest(engine: Engine, *, now: Callable[[], float] = time.monotonic) -> None:
    """Ask connections of the engine that rested for long, or since another one broke."""
    watch = _Watch(engine, now)
    event.listen(engine, "checkin", watch.seen)
    event.listen(engine, "checkout", watch.lend)
    event.listen(engine, "invalidate", watch.broke)


class _Watch:
    def __init__(self, engine: Engine, now: Callable[[], float]) -> None:
        self._ping = engine.dialect.do_ping
        self._now = now
        self._broke_at = float("-inf")

    def seen(self, _connection: object, entry: ConnectionPoolEntry) -> None:
        entry.info[_SEEN] = self._now()

    def broke(self, *_what: object) -> None:
        self._broke_at = self._now()

    def lend(self, connection: Any, entry: ConnectionPoolEntry, _lent: object) -> None:
        seen = entry.info.get(_SEEN)
        if seen is None or seen > max(self._broke_at, self._now() - REST_SECONDS):
            return
        try:
            self._ping(connection)
        except psycopg.Error as error:
            raise exc.InvalidatePoolError from error
