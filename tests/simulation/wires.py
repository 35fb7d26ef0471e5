"""The links between processes and servers: each call may be late, lost on its way, or the last.

A call has four moments: sent, done, answered, received. What falls between any two of them is
decided by the fates; a link that is cut loses what is sent, what is answered, or both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Protocol

from ppcfetch.errors import (
    ArchiveUnavailable,
    DatabaseUnavailable,
    PpcFetchError,
    StreamUnavailable,
)
from tests.simulation.scheduler import Owner, Scheduler


class Server(StrEnum):
    """What a link leads to."""

    DATABASE = "database"
    REDIS = "redis"
    ARCHIVE = "archive"


SILENCE: dict[Server, type[PpcFetchError]] = {
    Server.DATABASE: DatabaseUnavailable,
    Server.REDIS: StreamUnavailable,
    Server.ARCHIVE: ArchiveUnavailable,
}


class Side(StrEnum):
    """On which side of a call something happens."""

    BEFORE = "before"
    AFTER = "after"


class User(Owner, Protocol):
    """Whoever holds the near end of a link."""

    name: str

    @property
    def holds_work(self) -> bool:
        """Whether something would be interrupted by a fault now."""
        ...


class Fates(Protocol):
    """Decides what happens at each moment of each call."""

    def latency(self, server: Server) -> float:
        """Seconds until the call is done."""
        ...

    def reached(self, wire: "Wire", call: str, side: Side) -> None:
        """Let happen what is due here. Raises: the error of a lost call."""
        ...


@dataclass
class Wire:
    """One user's link to one server."""

    user: User
    server: Server
    scheduler: Scheduler
    fates: Fates
    sends: bool = True
    receives: bool = True

    def port(self, target: object) -> Any:
        """Give a port whose calls all go over this link."""
        return _Port(self, target)

    def silence(self, why: str) -> PpcFetchError:
        """Give the error that the user sees when no answer comes."""
        return SILENCE[self.server](f"the {self.server} gave no answer: {why}")

    def call(self, name: str, act: Callable[[], Any]) -> Any:
        """Make one call."""
        self.scheduler.sleep(self.fates.latency(self.server))
        self.fates.reached(self, name, Side.BEFORE)
        if not self.sends:
            raise self.silence("nothing arrives there")
        reply, refusal = None, None
        try:
            reply = act()
        except PpcFetchError as error:
            refusal = error
        self.fates.reached(self, name, Side.AFTER)
        if not self.receives:
            raise self.silence("nothing comes back")
        if refusal is not None:
            raise refusal
        return reply


class _Port:
    def __init__(self, wire: Wire, target: object) -> None:
        self._wire = wire
        self._target = target

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._target, name)

        def call(*args: Any, **named: Any) -> Any:
            return self._wire.call(name, partial(method, *args, **named))

        self.__dict__[name] = call
        return call
