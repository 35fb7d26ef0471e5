"""The faults, and schedules of them drawn from a seed."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from random import Random

import psycopg

from tests.e2e.chaos.link import Link
from tests.e2e.chaos.stage import Stage
from tests.servers import heal, libpq
from tests.waiting import wait_until

SECONDS = 8.0
FEWEST, MOST = 6, 10
GROUP = "workers"
LARGER_THAN_A_BEAT = 4000
"""Units: bytes. Of all that a worker sends to the database only pages are so large."""
LONGEST_STALL_SECONDS = 5.0

Act = Callable[[Stage], bool | None]
"""Gives False when it could not be done."""
Drawn = list["Event"]
Draw = Callable[[str, Random, float], Drawn]


@dataclass(frozen=True)
class Event:
    """Something that is done at a moment of the schedule.

    Shape: kind names the fault where it begins and is empty where it ends.
    """

    at: float
    kind: str
    act: Act


def schedule(seed: int) -> Drawn:
    """Draw a schedule; the same seed gives the same one.

    One fault is of the kind whose turn it is, so that as many schedules as kinds have all of them.
    """
    random = Random(seed)
    events = [Event(random.uniform(0.2, SECONDS / 2), "", Stage.copy_redis)]
    for earliest in (0.6, SECONDS / 2):
        events += _busiest_stalls(random, earliest + random.uniform(0, 1.5))
    kinds = list(FAULTS)
    others = random.randint(FEWEST, MOST) - 1
    drawn = random.choices(kinds, [weight for weight, _ in FAULTS.values()], k=others)
    for kind in (kinds[seed % len(kinds)], *drawn):
        _, draw = FAULTS[kind]
        events += draw(kind, random, random.uniform(0.3, SECONDS))
    return sorted(events, key=lambda event: event.at)


def _signal(kind: str, random: Random, at: float, *, number: signal.Signals) -> Drawn:
    return [Event(at, kind, _send_signal(random.randrange(4), number))]


def _suspend(kind: str, random: Random, at: float) -> Drawn:
    post, length = random.randrange(4), random.uniform(1.5, 3.0)
    return [
        Event(at, kind, _send_signal(post, signal.SIGSTOP)),
        Event(at + length, "", _send_signal(post, signal.SIGCONT)),
    ]


def _spoil(kind: str, random: Random, at: float, *, name: str, mode: str) -> Drawn:
    post, drop = random.randrange(4), random.random() < 0.3
    amount = random.uniform(0.02, 0.3) if mode == "slow" else random.randrange(1, 20_000)
    length = random.uniform(1.0, 2.8)
    return [
        Event(at, kind, lambda s: s.posts[post].links[name].spoil(mode, amount)),
        Event(at + length, "", lambda s: s.posts[post].links[name].heal(drop=drop)),
    ]


def _busiest_stalls(random: Random, at: float) -> Drawn:
    """A page that the busiest worker writes arrives when another has the job: to be refused."""
    met: list[Link] = []
    fences: dict[int, int] = {}

    def stall(stage: Stage) -> None:
        post = stage.busiest()
        met.append(post.links["database"])
        met[0].spoil("armed", LARGER_THAN_A_BEAT)
        fences.update(stage.fences(post))

    def resume(stage: Stage) -> None:
        def passed_on() -> bool:
            stage.keep_running()
            return stage.passed_on(fences)

        # A busy machine takes longer; where nobody could take the job, the other faults go on.
        with suppress(AssertionError):
            wait_until(passed_on, describe="another has the job", timeout=LONGEST_STALL_SECONDS)
        met[0].heal(drop=False)

    return [
        Event(at, "database link of the busiest worker stalls", stall),
        Event(at + random.uniform(2.5, 3.5), "", resume),
    ]


def _redis_killed(kind: str, _random: Random, at: float) -> Drawn:
    return [
        Event(at, kind, lambda s: os.kill(s.valkey.pid, signal.SIGKILL)),
        Event(at + 0.5, "", lambda s: heal(s.valkey)),
    ]


def _redis_hangs(kind: str, random: Random, at: float) -> Drawn:
    return [
        Event(at, kind, lambda s: os.kill(s.valkey.pid, signal.SIGSTOP)),
        Event(at + random.uniform(0.5, 2.0), "", lambda s: heal(s.valkey)),
    ]


def _redis_told(kind: str, random: Random, at: float, *, words: str) -> Drawn:
    pool = random.choice(("interactive", "bulk"))
    command = words.format(stream=f"{{ppcfetch}}:{pool}", group=GROUP).split()
    return [Event(at, kind, lambda s: s.redis(*command) is not None)]


def _consumer_deleted(kind: str, _random: Random, at: float) -> Drawn:
    def act(stage: Stage) -> bool:
        one = stage.busiest()
        consumer = f"{one.settings['PPCFETCH_WORKER_NAME']}.{one.pool}.1"
        stream = f"{{ppcfetch}}:{one.pool}"
        return bool(stage.redis("XGROUP", "DELCONSUMER", stream, GROUP, consumer))

    return [Event(at, kind, act)]


def _redis_full(kind: str, random: Random, at: float) -> Drawn:
    return [
        *_redis_told(kind, random, at, words="CONFIG SET maxmemory 1"),
        *_redis_told("", random, at + random.uniform(0.3, 1.5), words="CONFIG SET maxmemory 0"),
    ]


def _rewind(kind: str, _random: Random, at: float) -> Drawn:
    return [Event(max(at, SECONDS / 2), kind, Stage.rewind_redis)]


def _database_killed(kind: str, _random: Random, at: float) -> Drawn:
    return [
        Event(at, kind, lambda s: os.kill(s.postgres.pid, signal.SIGKILL)),
        Event(at + 0.3, "", lambda s: heal(s.postgres)),
    ]


def _sessions_ended(kind: str, _random: Random, at: float) -> Drawn:
    statement = (
        b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        b" WHERE datname = current_database() AND application_name LIKE 'ppcfetch %'"
    )

    def act(stage: Stage) -> bool:
        with (
            suppress(psycopg.OperationalError),  # while the server starts again
            psycopg.connect(libpq(stage.plant.database), autocommit=True) as connection,
        ):
            connection.execute(statement)
            return True
        return False

    return [Event(at, kind, act)]


def _send_signal(post: int, number: signal.Signals) -> Act:
    return lambda stage: stage.signal(stage.posts[post], number)


FAULTS: dict[str, tuple[float, Draw]] = {
    "worker killed": (4, partial(_signal, number=signal.SIGKILL)),
    "worker stopped politely": (2, partial(_signal, number=signal.SIGTERM)),
    "worker suspended": (5, _suspend),
    **{
        f"{name} link {mode}": (weight * share, partial(_spoil, name=name, mode=mode))
        for name, weight in (("database", 0.7), ("redis", 0.4), ("archive", 0.1))
        for mode, share in (("slow", 1), ("cut", 1), ("half-open", 2), ("one-way", 2))
    },
    "redis killed": (1, _redis_killed),
    "redis suspended": (1, _redis_hangs),
    "redis emptied": (0.8, partial(_redis_told, words="FLUSHALL")),
    "stream deleted": (0.8, partial(_redis_told, words="DEL {stream}")),
    "stream trimmed": (0.8, partial(_redis_told, words="XTRIM {stream} MAXLEN 1")),
    "group destroyed": (0.8, partial(_redis_told, words="XGROUP DESTROY {stream} {group}")),
    "live entries deleted": (0.8, partial(_redis_told, words="DEL {{ppcfetch}}:live")),
    "consumer deleted with what it held": (1, _consumer_deleted),
    "redis full": (1, _redis_full),
    "redis rewound to an older copy": (2, _rewind),
    "database killed": (1, _database_killed),
    "database sessions ended": (1, _sessions_ended),
}
"""How often each kind comes up beside its turn, and what draws its events."""
