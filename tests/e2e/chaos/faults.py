"""The faults, and schedules of them drawn from a seed."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random

import psycopg

from tests.e2e.chaos.link import Link
from tests.e2e.chaos.stage import Stage
from tests.servers import heal, libpq

SECONDS = 8.0
FEWEST, MOST = 6, 10
STREAMS = ("{ppcfetch}:interactive", "{ppcfetch}:bulk")
GROUP = "workers"

Act = Callable[[Stage], None]


@dataclass(frozen=True)
class Event:
    """Something that is done at a moment of the schedule.

    Shape: kind names the fault where it begins and is empty where it ends.
    """

    at: float
    kind: str
    act: Act


def schedule(seed: int) -> list[Event]:
    """Draw a schedule; the same seed gives the same one."""
    random = Random(seed)
    events = [Event(random.uniform(0.2, SECONDS / 2), "", Stage.copy_redis)]
    for earliest in (0.6, SECONDS / 2):
        events += _busiest_stalls(random, earliest + random.uniform(0, 1.5))
    for _ in range(random.randint(FEWEST, MOST)):
        at = random.uniform(0.3, SECONDS)
        events += random.choices(FAULTS, [weight for weight, _ in WEIGHED])[0](random, at)
    return sorted(events, key=lambda event: event.at)


def _kill(random: Random, at: float) -> list[Event]:
    return [Event(at, "worker killed", _signal(random.randrange(4), signal.SIGKILL))]


def _term(random: Random, at: float) -> list[Event]:
    return [Event(at, "worker stopped politely", _signal(random.randrange(4), signal.SIGTERM))]


def _pause(random: Random, at: float) -> list[Event]:
    post, length = random.randrange(4), random.uniform(1.5, 3.0)
    return [
        Event(at, "worker suspended", _signal(post, signal.SIGSTOP)),
        Event(at + length, "", _signal(post, signal.SIGCONT)),
    ]


def _link(random: Random, at: float) -> list[Event]:
    post, drop = random.randrange(4), random.random() < 0.3
    name = random.choices(("database", "redis", "archive"), (5, 3, 1))[0]
    mode = random.choice(("slow", "cut", "half-open", "half-open", "one-way", "one-way"))
    amount = random.uniform(0.02, 0.3) if mode == "slow" else random.randrange(1, 20_000)
    length = random.uniform(1.0, 2.8)
    return [
        Event(at, f"{name} link {mode}", lambda s: s.posts[post].links[name].spoil(mode, amount)),
        Event(at + length, "", lambda s: s.posts[post].links[name].heal(drop=drop)),
    ]


def _busiest_stalls(random: Random, at: float) -> list[Event]:
    """What the busiest worker writes now arrives when others have its jobs: it must be refused."""
    met: list[Link] = []

    def stall(stage: Stage) -> None:
        met.append(stage.busiest().links["database"])
        met[0].spoil("half-open", 0)

    def resume(_stage: Stage) -> None:
        met[0].heal(drop=False)

    return [
        Event(at, "database link of the busiest worker stalls", stall),
        Event(at + random.uniform(2.5, 3.5), "", resume),
    ]


def _redis_killed(_random: Random, at: float) -> list[Event]:
    return [
        Event(at, "redis killed", lambda s: os.kill(s.valkey.pid, signal.SIGKILL)),
        Event(at + 0.5, "", lambda s: heal(s.valkey)),
    ]


def _redis_hangs(random: Random, at: float) -> list[Event]:
    return [
        Event(at, "redis suspended", lambda s: os.kill(s.valkey.pid, signal.SIGSTOP)),
        Event(at + random.uniform(0.5, 2.0), "", lambda s: heal(s.valkey)),
    ]


def _redis_loses(random: Random, at: float) -> list[Event]:
    stream = random.choice(STREAMS)
    kind, words = random.choice(
        [
            ("redis emptied", ("FLUSHALL",)),
            ("stream deleted", ("DEL", stream)),
            ("stream trimmed", ("XTRIM", stream, "MAXLEN", 1)),
            ("group destroyed", ("XGROUP", "DESTROY", stream, GROUP)),
            ("live entries deleted", ("DEL", "{ppcfetch}:live")),
        ]
    )
    return [Event(at, kind, lambda s: _send(s, words))]


def _consumer_deleted(random: Random, at: float) -> list[Event]:
    post = random.randrange(4)

    def act(stage: Stage) -> None:
        one = stage.posts[post]
        consumer = f"{one.settings['PPCFETCH_WORKER_NAME']}.{one.pool}.1"
        stage.redis("XGROUP", "DELCONSUMER", f"{{ppcfetch}}:{one.pool}", GROUP, consumer)

    return [Event(at, "consumer deleted with what it held", act)]


def _redis_full(random: Random, at: float) -> list[Event]:
    return [
        Event(at, "redis full", lambda s: _send(s, ("CONFIG", "SET", "maxmemory", 1))),
        Event(
            at + random.uniform(0.3, 1.5),
            "",
            lambda s: _send(s, ("CONFIG", "SET", "maxmemory", 0)),
        ),
    ]


def _rewind(_random: Random, at: float) -> list[Event]:
    return [Event(max(at, SECONDS / 2), "redis rewound to an older copy", Stage.rewind_redis)]


def _database_killed(_random: Random, at: float) -> list[Event]:
    return [
        Event(at, "database killed", lambda s: os.kill(s.postgres.pid, signal.SIGKILL)),
        Event(at + 0.3, "", lambda s: heal(s.postgres)),
    ]


def _sessions_ended(_random: Random, at: float) -> list[Event]:
    statement = (
        b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        b" WHERE datname = current_database() AND application_name LIKE 'ppcfetch %'"
    )

    def act(stage: Stage) -> None:
        with (
            suppress(psycopg.OperationalError),  # while the server starts again
            psycopg.connect(libpq(stage.plant.database), autocommit=True) as connection,
        ):
            connection.execute(statement)

    return [Event(at, "database sessions ended", act)]


def _signal(post: int, number: signal.Signals) -> Act:
    return lambda stage: stage.signal(stage.posts[post], number)


def _send(stage: Stage, words: tuple[str | int, ...]) -> None:
    stage.redis(*words)


WEIGHED: tuple[tuple[int, Callable[[Random, float], list[Event]]], ...] = (
    (4, _kill),
    (2, _term),
    (5, _pause),
    (7, _link),
    (1, _redis_killed),
    (1, _redis_hangs),
    (4, _redis_loses),
    (1, _consumer_deleted),
    (1, _redis_full),
    (2, _rewind),
    (1, _database_killed),
    (1, _sessions_ended),
)
FAULTS = tuple(fault for _, fault in WEIGHED)
