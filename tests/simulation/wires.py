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
    Unavailable,
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


@dataclass(slots=True)
class Call:
    """A call that reached its server: what was asked of whom, and what was answered.

    Shape: target says which port of the server it was, as `Wire.port` was told; gone tells that
    nothing answered and nothing was done. Units: at is virtual seconds.
    """

    at: float
    server: Server
    target: tuple[Any, ...]
    name: str
    args: tuple[Any, ...]
    named: dict[str, Any]
    reply: Any = None
    gone: bool = False


class Fates(Protocol):
    """Decides what happens at each moment of each call, and keeps what was called."""

    def begins(self, call: Call) -> None:
        """Note a call that is being done now; its reply is filled in behind it."""
        ...

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

    def port(self, target: object, *label: Any) -> Any:
        """Give a port whose calls all go over this link; the label tells which it is."""
        return _Port(self, target, label)

    def silence(self, why: str) -> PpcFetchError:
        """Give the error that the user sees when no answer comes."""
        return SILENCE[self.server](f"the {self.server} gave no answer: {why}")

    def call(self, call: Call, act: Callable[[], Any]) -> Any:
        """Make one call."""
        self.scheduler.sleep(self.fates.latency(self.server))
        self.fates.reached(self, call.name, Side.BEFORE)
        if not self.sends:
            raise self.silence("nothing arrives there")
        call.at = self.scheduler.now
        self.fates.begins(call)
        refusal = None
        try:
            call.reply = act()
        except PpcFetchError as error:
            call.reply, call.gone = type(error), isinstance(error, Unavailable)
            refusal = error
        self.fates.reached(self, call.name, Side.AFTER)
        if not self.receives:
            raise self.silence("nothing comes back")
        if refusal is not None:
            raise refusal
        return call.reply


class _Port:
    def __init__(self, wire: Wire, target: object, label: tuple[Any, ...]) -> None:
        self._wire = wire
        self._target = target
        self._label = label

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method, wire, label = getattr(self._target, name), self._wire, self._label

        def call(*args: Any, **named: Any) -> Any:
            asked = Call(0.0, wire.server, label, name, args, named)
            return wire.call(asked, partial(method, *args, **named))

        self.__dict__[name] = call
        return call
