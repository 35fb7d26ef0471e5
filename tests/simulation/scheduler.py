"""Many actors in one thread, on one virtual clock; whoever waits lets the others go on.

An actor is a greenlet: it runs real code, loops and all, until that waits for time or for an
event. The order depends on the dice alone, so a seed always gives the same run.
"""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Protocol

from greenlet import GreenletExit, getcurrent, greenlet

FOREVER = 1e9


class Owner(Protocol):
    """The process that an actor is a thread of."""

    alive: bool
    paused_until: float


@dataclass(slots=True)
class Wait:
    """An actor that does not run now."""

    actor: Any
    owner: Owner | None
    over: bool = False


class Scheduler:
    """The clock and the queue of those that wait.

    Units: now is virtual seconds since the start.
    """

    def __init__(self, dice: random.Random) -> None:
        self.now = 0.0
        self.steps = 0
        self._dice = dice
        self._queue: list[tuple[float, float, int, Wait]] = []
        self._pushed = 0
        self._hub: Any = getcurrent()
        self._owner: Owner | None = None
        self._actors: list[Any] = []

    def spawn(self, body: Callable[[], object], owner: Owner | None = None) -> None:
        """Let an actor begin, soon. It is gone for good once its owner is not alive."""
        actor = greenlet(body, parent=self._hub)
        self._actors.append(actor)
        self._push(self.now, Wait(actor, owner))

    def sleep(self, seconds: float) -> None:
        """Let the running actor wait."""
        self.wait(self.begin_wait(seconds))

    def begin_wait(self, seconds: float) -> Wait:
        """Note that the running actor will wait, at most so long."""
        wait = Wait(getcurrent(), self._owner)
        self._push(self.now + seconds, wait)
        return wait

    def wait(self, _wait: Wait) -> None:
        """Suspend the running actor until its wait is over."""
        self._hub.switch()

    def stop_for_ever(self) -> None:
        """Suspend the running actor; nothing wakes it."""
        self._hub.switch()

    def wake(self, wait: Wait) -> None:
        """End a wait early."""
        if not wait.over:
            self._push(self.now, wait)

    def run(self, until: Callable[[], bool], *, limit: float) -> None:
        """Go on until the condition holds, nobody waits, or the time is up."""
        while self._queue and self.now < limit and not until():
            time, _, _, wait = heappop(self._queue)
            owner = wait.owner
            if wait.over or not (owner is None or owner.alive):
                continue
            self.now = max(self.now, time)
            if owner is not None and owner.paused_until > self.now:
                self._push(owner.paused_until, wait)
                continue
            wait.over = True
            self.steps += 1
            self._owner = owner
            wait.actor.switch()

    def close(self) -> None:
        """End all actors, wherever they are."""
        for actor in self._actors:
            if not actor.dead:
                actor.throw(GreenletExit)

    def _push(self, time: float, wait: Wait) -> None:
        self._pushed += 1
        heappush(self._queue, (time, self._dice.random(), self._pushed, wait))


class Signal(threading.Event):
    """An event that actors wait for in virtual time."""

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__()
        self._scheduler = scheduler
        self._waits: list[Wait] = []

    def wait(self, timeout: float | None = None) -> bool:
        if self.is_set() or timeout == 0:
            return self.is_set()
        wait = self._scheduler.begin_wait(FOREVER if timeout is None else timeout)
        self._waits.append(wait)
        self._scheduler.wait(wait)
        return self.is_set()

    def set(self) -> None:
        super().set()
        self.stir()

    def stir(self) -> None:
        """Wake those that wait, without setting anything."""
        waits, self._waits = self._waits, []
        for wait in waits:
            self._scheduler.wake(wait)
