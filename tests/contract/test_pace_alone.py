"""The pace of one process while Redis is away, and how seldom Redis is asked when all is well."""

import os
import signal
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from ppcfetch.adapters.redis.connections import connect
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.pace import RedisPace
from ppcfetch.errors import ArchiveThrottled, ArchiveUnavailable
from ppcfetch.model.egress import DIRECT, Permit
from ppcfetch.model.job import Pool
from tests.contract.pace_rig import LEAVE, ProcessClock, RealPaceRig, wait_of
from tests.servers import flush, heal
from tests.waiting import wait_until

NO_WAIT = timedelta(0)
SECOND = timedelta(seconds=1)
INTERACTIVE = Pool.INTERACTIVE
NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture
def clock() -> ProcessClock:
    """The process's clock."""
    return ProcessClock()


def lonely(
    rate_per_second: float | None, clock: ProcessClock, egresses: Sequence[str] = (DIRECT,)
) -> RedisPace:
    """A pace whose Redis was never there."""
    client = connect(NOWHERE, block=NO_WAIT, answer=SECOND).rest
    return RedisPace(
        client,
        Keys("{test}"),
        egresses=egresses,
        rate_per_second=rate_per_second,
        clock=clock,
        asker="host.bulk.1",
    )


@pytest.fixture
def server(valkey_server: EmbeddedValkey) -> Iterator[EmbeddedValkey]:
    """A server that may be killed."""
    heal(valkey_server)
    flush(valkey_server.url)
    yield valkey_server
    heal(valkey_server)


def test_without_redis_ever_a_process_takes_an_eighth_of_the_rate(clock: ProcessClock) -> None:
    pace = lonely(4.0, clock)

    first, second = wait_of(pace, INTERACTIVE), wait_of(pace, INTERACTIVE)
    clock.now += 2

    assert (first, second) == (NO_WAIT, 2 * SECOND)
    assert wait_of(pace, INTERACTIVE) == NO_WAIT


def test_without_redis_the_rate_is_divided_among_all_that_asked_lately(
    server: EmbeddedValkey,
) -> None:
    rig = RealPaceRig(server.url)
    paces = [rig.worker(1.0) for _ in range(3)]
    for pace in [*paces, paces[0]]:
        pace.ask(INTERACTIVE)
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.alive(), describe="the server is dead")

    first, second = wait_of(paces[0], INTERACTIVE), wait_of(paces[0], INTERACTIVE)

    assert (first, second) == (NO_WAIT, 3 * SECOND)
    rig.close()


def test_without_redis_each_egress_has_a_pace_and_a_rest_of_its_own(clock: ProcessClock) -> None:
    pace = lonely(8.0, clock, ["one:1", "two:2"])
    asked = [pace.ask(INTERACTIVE) for _ in range(3)]

    rest = pace.went_badly(Permit("one:1"), ArchiveThrottled("429", retry_after=60 * SECOND))
    clock.now += 30
    later = [pace.ask(INTERACTIVE) for _ in range(2)]

    assert asked == [Permit("one:1"), Permit("two:2"), SECOND]
    assert rest == NO_WAIT
    assert later == [Permit("two:2"), SECOND]


def test_without_redis_a_process_that_failed_last_tries_every_ten_seconds(
    clock: ProcessClock,
) -> None:
    pace = lonely(None, clock)
    wait_of(pace, INTERACTIVE)
    pace.went_badly(LEAVE, ArchiveUnavailable("no answer"))

    after_failure = wait_of(pace, INTERACTIVE)
    clock.now += 10
    tried = wait_of(pace, INTERACTIVE)
    pace.went_well(LEAVE)

    assert (after_failure, tried) == (10 * SECOND, NO_WAIT)
    assert wait_of(pace, INTERACTIVE) == NO_WAIT


def test_without_redis_a_process_still_rests_as_long_as_the_archive_said(
    clock: ProcessClock,
) -> None:
    pace = lonely(None, clock)

    rest = pace.went_badly(LEAVE, ArchiveThrottled("429", retry_after=timedelta(hours=1)))
    clock.now += 3599

    assert rest == timedelta(hours=1)
    assert wait_of(pace, INTERACTIVE) == SECOND


def test_a_rest_outlives_redis_in_the_process_that_was_told(redis_url: str) -> None:
    rig = RealPaceRig(redis_url)
    told = rig.worker(None)
    told.went_badly(LEAVE, ArchiveThrottled("429", retry_after=timedelta(hours=1)))

    rig.client.flushall()

    assert wait_of(told, INTERACTIVE) > timedelta(minutes=59)
    rig.close()


def test_when_redis_is_back_the_pace_is_shared_again(
    server: EmbeddedValkey, clock: ProcessClock
) -> None:
    client = connect(server.url, block=NO_WAIT, answer=SECOND).rest
    pace = RedisPace(
        client,
        Keys("{test}"),
        egresses=["e"],
        rate_per_second=1.0,
        clock=clock,
        asker="host.bulk.1",
    )
    wait_of(pace, INTERACTIVE)
    counted = float(client.hget("{test}:pace:e", "tokens") or 9)
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.alive(), describe="the server is dead")
    alone = [wait_of(pace, INTERACTIVE), wait_of(pace, INTERACTIVE)]
    heal(server)

    clock.now += 6

    assert alone == [NO_WAIT, SECOND]
    assert wait_of(pace, Pool.BULK) == NO_WAIT
    assert counted < 1
    assert float(client.hget("{test}:pace:e", "kept") or 9) < 1
    client.close()


def test_without_a_limit_redis_is_asked_once_a_while_and_told_nothing_new(redis_url: str) -> None:
    rig = RealPaceRig(redis_url)
    pace = rig.worker(None)
    wait_of(pace, INTERACTIVE)
    before = calls(rig)

    for _ in range(50):
        assert wait_of(pace, INTERACTIVE) == NO_WAIT
        pace.went_well(LEAVE)
    during = calls(rig) - before
    rig.clock.now += 0.2
    wait_of(pace, INTERACTIVE)

    assert during == 0
    assert calls(rig) - before == 1
    rig.close()


def test_a_breaker_opened_by_another_is_noticed_within_a_tenth_of_a_second(redis_url: str) -> None:
    rig = RealPaceRig(redis_url)
    pace, other = rig.worker(None), rig.worker(None)
    wait_of(pace, INTERACTIVE)

    other.went_badly(LEAVE, ArchiveThrottled("429"))
    rig.clock.now += 0.1

    assert wait_of(pace, INTERACTIVE) > NO_WAIT
    rig.close()


def test_a_server_clock_that_is_set_back_lengthens_no_rest_and_stops_no_bucket(
    redis_url: str,
) -> None:
    rig = RealPaceRig(redis_url)
    pace = rig.worker(1.0)
    wait_of(pace, INTERACTIVE)
    pace.went_badly(LEAVE, ArchiveThrottled("429"))
    # What was noted by a clock an hour ahead, as seen by one that is right again.
    for name in ("at", "opened"):
        rig.client.hincrbyfloat("{test}:pace:direct", name, 3_600_000)

    wait = wait_of(rig.worker(1.0), INTERACTIVE)
    rig.advance(wait)

    assert NO_WAIT < wait <= 5 * SECOND
    assert wait_of(rig.worker(1.0), INTERACTIVE) == NO_WAIT
    rig.close()


def calls(rig: RealPaceRig) -> int:
    """How many steps the server has run."""
    stats = rig.client.info("commandstats")
    return sum(int(one["calls"]) for name, one in stats.items() if name.startswith("cmdstat_eval"))
