"""Lets the drawn faults strike, each at its moment."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ppcfetch.errors import PpcFetchError
from tests.simulation.faults import STRIKE_A_CALL, Clog, Fault
from tests.simulation.process import Process
from tests.simulation.strikes import BY_PROCESS, BY_SERVER
from tests.simulation.wires import Call, Server, Side, Wire

if TYPE_CHECKING:
    from tests.simulation.world import World

SLOW_SHARE = 0.03
PATIENCE_IN_LEASES = 1.5
LINGERS_LEASES = 1


class Fates:
    """The faults of one run (see `wires.Fates`).

    Shape: `waiting` are those to come; `lasting` counts what is under way.
    """

    def __init__(self, world: "World", faults: list[Fault], clogs: list[Clog]) -> None:
        self.world = world
        self.waiting = list(faults)
        self.lasting = 0
        self.outages: Counter[str] = Counter()
        self.cut: Counter[tuple[str, Server]] = Counter()
        self._lease = world.limits.lease.total_seconds()
        self._random = world.dice.random
        for fault in faults:
            self.later(fault.at, partial(self._time_has_come, fault))
        for clog in clogs:
            self.later(clog.closes, partial(self._clog, clog))

    @property
    def are_over(self) -> bool:
        """Whether nothing more goes wrong from now on."""
        return not self.waiting and not self.lasting

    def latency(self, server: Server) -> float:
        """Seconds until a call is done: mostly short, sometimes long."""
        if server is Server.ARCHIVE:
            shortest, more = self.world.archive.latency
            return shortest + more * self._random()
        slow = self._random() < SLOW_SHARE
        return self._random() * (1.0 if slow else 0.01)

    def begins(self, call: Call) -> None:
        """Keep the call, when somebody wants to see it."""
        if self.world.record is not None:
            self.world.record(call)

    def reached(self, wire: Wire, call: str, side: Side) -> None:
        """Let the faults strike that wait for this very moment."""
        if not self.waiting or self.waiting[0].at > self.world.scheduler.now:
            if side is Side.AFTER and self._random() < 0.25:
                self.world.scheduler.sleep(self.latency(Server.DATABASE))
            return
        for fault in [one for one in self.waiting if self._matches(one, wire, call, side)]:
            if fault in self.waiting:
                self.waiting.remove(fault)
                self._strike(fault, wire)

    def _note(self, kind: str, *, hit: bool, cost: int, length: float) -> None:
        until = self.world.scheduler.now + length + LINGERS_LEASES * self._lease
        self.world.ledger.fault(kind, hit=hit, cost=cost, until=until)

    def _matches(self, fault: Fault, wire: Wire, call: str, side: Side) -> bool:
        now = self.world.scheduler.now
        if fault.call is None or fault.at > now or fault.side is not side:
            return False
        if fault.server is not wire.server:
            return False
        return fault.call == call or now > fault.at + PATIENCE_IN_LEASES * self._lease

    def _time_has_come(self, fault: Fault) -> None:
        if fault.call is not None:
            self.world.scheduler.sleep(2 * PATIENCE_IN_LEASES * self._lease)
        if fault in self.waiting:
            self.waiting.remove(fault)
            if fault.kind not in STRIKE_A_CALL:
                self._strike(fault, None)

    def _strike(self, fault: Fault, wire: Wire | None) -> None:
        busy = any(process.holds_work for process in self.world.processes)
        self.world.tell(f"FAULT {fault}" + (f" at {wire.user.name}" if wire else ""))
        victim = self._victim(fault, wire)
        hit = victim.holds_work if victim and fault.kind in BY_PROCESS else busy
        cost = fault.cost(self.world.limits)
        self._note(fault.kind, hit=hit or wire is not None, cost=cost, length=fault.length)
        if wire is not None and fault.kind in STRIKE_A_CALL:
            self._strike_call(fault, wire)
        elif fault.kind in BY_PROCESS:
            if victim is not None:
                BY_PROCESS[fault.kind](self, fault, victim)
                if wire is not None and wire.user is victim:
                    # If it is dead or paused, it stops right here.
                    self.world.scheduler.sleep(0)
        else:
            BY_SERVER[fault.kind](self, fault)

    def _victim(self, fault: Fault, wire: Wire | None) -> Process | None:
        if wire is not None and isinstance(wire.user, Process):
            return wire.user
        alive = [process for process in self.world.processes if process.alive]
        return alive[int(fault.pick * len(alive))] if alive else None

    def _strike_call(self, fault: Fault, wire: Wire) -> None:
        if fault.kind != "hang":
            raise wire.silence(f"a {fault.kind}")
        self.world.scheduler.stop_for_ever()

    # Time

    def later(self, seconds: float, act: Callable[[], object]) -> None:
        def later() -> None:
            self.world.scheduler.sleep(seconds)
            with suppress(PpcFetchError):
                act()

        self.world.scheduler.spawn(later)

    def lasts(self, seconds: float, end: Callable[[], object]) -> None:
        self.lasting += 1

        def over() -> None:
            self.lasting -= 1
            end()

        self.later(seconds, over)

    def is_out(self, what: str, length: float) -> None:
        self._outage(what, 1)
        self.lasts(length, lambda: self._outage(what, -1))

    def _outage(self, what: str, change: int) -> None:
        self.outages[what] += change
        self.world.database.down = self.outages["database"] > 0
        self.world.redis.down = self.outages["redis"] > 0
        self.world.redis.full = self.outages["memory"] > 0

    def _clog(self, clog: Clog) -> None:
        alive = [process for process in self.world.processes if process.alive]
        if not alive:
            return
        victim = alive[int(clog.pick * len(alive))]
        length = clog.opens - clog.closes
        self.world.tell(f"FAULT clog of {victim.name} and the {clog.server} for {length:.1f} s")
        cost = 1 + int(length / self._lease)
        self._note("clog", hit=victim.holds_work, cost=cost, length=length)
        wire = victim.wires[clog.server]
        wire.sends = False

        def heal() -> None:
            wire.sends = wire.receives = True

        self.lasts(length, heal)
