"""What can go wrong in a run, drawn before it begins.

A fault waits for its moment: a point in time, or the next call of a certain kind, before or
after it was done. A call that is struck is struck there: its process is killed or put to sleep
between two lines, its answer is lost, or the server loses its memory just then.
"""

import random
from dataclasses import dataclass

from ppcfetch.model.lease import Limits
from tests.simulation.wires import Server, Side

CALLS: dict[Server, tuple[str, ...]] = {
    Server.DATABASE: (
        "take", "take", "write_page", "write_page", "beat", "settle", "settle", "vetoed",
        "give_back_starts", "unrung", "take_turn", "next_incarnation", "request", "cancel",
        "admit", "admit",
    ),
    Server.REDIS: (
        "receive", "receive", "accept", "accept", "settle", "settle", "move", "renew", "claim",
        "abandoned", "history", "reconcile", "publish", "dead_letter", "keep", "take_name",
        "restore", "delete_orphans",
    ),
    Server.ARCHIVE: ("page",),
}  # fmt: skip
"""The calls that a fault may wait for; the busiest points are named twice."""

DEAR_ANSWERS = (
    (Server.DATABASE, "take"),
    (Server.DATABASE, "write_page"),
    (Server.DATABASE, "settle"),
    (Server.REDIS, "receive"),
    (Server.REDIS, "accept"),
    (Server.REDIS, "move"),
)
"""Those that would cost most if a lost one counted."""

KINDS: dict[str, int] = {
    "kill": 6,
    "pause": 6,
    "lost answer": 6,
    "lost call": 3,
    "stop": 3,
    "stop and kill": 3,
    "flush": 2,
    "rewind": 2,
    "stream deleted": 3,
    "group destroyed": 2,
    "consumer deleted": 3,
    "entry deleted": 1,
    "name expired": 2,
    "database away": 2,
    "redis away": 2,
    "redis full": 1,
    "partition": 3,
    "archive unavailable": 2,
    "archive throttled": 2,
    "archive blocked": 1,
    "archive rejects": 1,
    "hang": 1,
    "cancel": 2,
    "retry": 1,
    "pool paused": 1,
    "rubbish": 1,
}
"""Each kind with its weight."""

NEED_A_PROCESS = frozenset({"kill", "pause", "stop", "stop and kill", "partition", "name expired"})
SIDES = {"lost answer": Side.AFTER, "lost call": Side.BEFORE, "hang": Side.BEFORE}
STRIKE_A_CALL = SIDES.keys()

COST_NO_START = frozenset(
    {
        "lost answer", "lost call", "stop", "stream deleted", "group destroyed",
        "consumer deleted", "entry deleted",
        "redis full", "archive unavailable", "archive throttled", "archive blocked",
        "archive rejects", "cancel", "retry", "pool paused", "rubbish",
    }
)  # fmt: skip
"""Whatever these meet, no job may be counted a start for them."""

STRICT_SHARE = 1 / 4

LAST = frozenset({"database away", "redis away", "partition"})
"""These may cost a start in each lease that they last."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that will go wrong.

    Shape: call None means that time alone decides; pick is the die for whatever is to be chosen.
    Units: at and length are seconds.
    """

    kind: str
    at: float
    length: float
    pick: float
    server: Server | None = None
    call: str | None = None
    side: Side = Side.BEFORE

    def cost(self, limits: Limits) -> int:
        """Give how many starts this may cost one job (L3)."""
        if self.kind in COST_NO_START:
            return 0
        return 1 + int(self.length / limits.lease.total_seconds()) * (self.kind in LAST)

    def __str__(self) -> str:
        """Say it in a line."""
        where = f" {self.side} {self.server}.{self.call}" if self.call else ""
        return f"{self.at:6.1f} s  {self.kind}{where} (for {self.length:.1f} s)"


def draw(dice: random.Random, *, lease: float) -> list[Fault]:
    """Give the faults of a run, in the order in which they may strike."""
    span = lease * dice.uniform(1.5, 5)
    # In some runs nothing goes wrong that may cost a start, so that every lost one is seen.
    is_strict = dice.random() < STRICT_SHARE
    weights = {k: KINDS[k] for k in KINDS if not is_strict or k in COST_NO_START}
    kinds = dice.choices(list(weights), list(weights.values()), k=dice.randint(3, 8))
    faults = [_one(dice, kind, span, lease) for kind in kinds]
    return sorted(faults, key=lambda fault: fault.at)


def _one(dice: random.Random, kind: str, span: float, lease: float) -> Fault:
    server = call = None
    if kind in STRIKE_A_CALL or dice.random() < 0.7:
        server = Server.ARCHIVE if kind == "hang" else dice.choice([*[*Server][:2], *Server])
        call = dice.choice(CALLS[server])
    if kind == "lost answer" and dice.random() < 0.5:
        server, call = dice.choice(DEAR_ANSWERS)
    if kind == "pause" and dice.random() < 0.3:
        # The moment at which only the fence is left to stop a sleeper.
        server, call = Server.DATABASE, "write_page"
    length = dice.uniform(2, 4) * lease if kind == "pause" else dice.uniform(0.1, 3) * lease
    side = SIDES.get(kind) or dice.choice(list(Side))
    return Fault(kind, dice.uniform(0, span), length, dice.random(), server, call, side)


@dataclass(frozen=True, slots=True)
class Clog:
    """A link of a process that is closed at one time and opened at another (swizzle-clog)."""

    pick: float
    server: Server
    closes: float
    opens: float


def draw_clogs(dice: random.Random, *, lease: float) -> list[Clog]:
    """Give links to close one by one and to open in another order, in a quarter of all runs."""
    if dice.random() >= 0.25:
        return []
    count = dice.randint(2, 6)
    closes = sorted(dice.uniform(1, 2) * lease for _ in range(count))
    opens = [closes[-1] + dice.uniform(0.1, 1.5) * lease for _ in range(count)]
    return [
        Clog(dice.random(), dice.choice([Server.REDIS, Server.DATABASE]), closes[n], opens[n])
        for n in range(count)
    ]
