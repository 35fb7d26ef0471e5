"""Looks at real streams that only operators take: nothing is changed by them."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from ppcfetch.adapters.clock import SystemClock
from ppcfetch.adapters.redis.inspector import RedisInspector
from ppcfetch.adapters.redis.live_messages import MESSAGES_A_STEP, live_messages
from ppcfetch.adapters.redis.pace import RedisPace
from ppcfetch.errors import ArchiveThrottled
from ppcfetch.model.egress import Permit
from tests.contract.stream_rig import BULK, INTERACTIVE, NOW, RealRig, Rig

Shown = tuple[int | None, str]


@pytest.fixture
def real(real_redis_url: str) -> Iterator[RealRig]:
    """The ports on each real server."""
    rig = RealRig(real_redis_url)
    yield rig
    rig.close()


@pytest.fixture
def inspector(real: RealRig) -> RedisInspector:
    """The looks."""
    return RedisInspector(real.client, real.keys)


def shown(real: RealRig) -> list[Shown]:
    """Give job and consumer of each live interactive message."""
    found = live_messages(real.client, real.keys, INTERACTIVE)
    return [(one.job_id, one.token.consumer) for one in found]


def test_messages_that_a_deleted_consumer_held_are_counted_as_orphans(rig: Rig) -> None:
    rig.received(1, 2)
    rig.received(3, by="b")
    rig.doorbell.publish([(4, INTERACTIVE)])

    rig.delete_consumer("a")

    counts = rig.counts()
    assert (counts.undelivered, counts.in_hand, counts.orphans) == (1, 1, 2)


def test_a_stream_in_order_has_no_orphans(rig: Rig) -> None:
    rig.received(1)
    rig.doorbell.publish([(2, INTERACTIVE)])

    assert rig.counts().orphans == 0


def test_live_messages_are_those_that_wait_and_those_in_a_hand(real: RealRig) -> None:
    real.received(1)
    real.received(2, by="b")
    real.delete_consumer("b")
    real.add(b"rubbish")
    real.doorbell.publish([(3, INTERACTIVE), (4, BULK)])

    assert shown(real) == [(1, "a"), (None, ""), (3, "")]


def test_live_messages_are_walked_to_the_end(real: RealRig) -> None:
    jobs = range(1, 2 * MESSAGES_A_STEP + 2)
    real.census.ensure_groups()
    real.doorbell.publish([(job, INTERACTIVE) for job in jobs])
    real.deliveries("a").receive(700, NOW)

    found = shown(real)

    assert [job for job, _ in found] == list(jobs)
    assert [job for job, consumer in found if consumer] == list(range(1, 701))


def test_a_stream_that_is_not_there_has_no_messages_and_no_group(
    real: RealRig, inspector: RedisInspector
) -> None:
    assert shown(real) == []
    assert not inspector.has_group(INTERACTIVE)


def test_a_group_is_seen_when_it_is_made_and_when_it_is_lost(
    real: RealRig, inspector: RedisInspector
) -> None:
    real.census.ensure_groups()
    made = inspector.has_group(INTERACTIVE)

    real.destroy_group()

    assert made
    assert not inspector.has_group(INTERACTIVE)


def test_every_borne_name_is_found_though_it_never_received(
    real: RealRig, inspector: RedisInspector
) -> None:
    names = [real.take_name(number).holder for number in (7, 9)]
    real.client.set("another key", "of somebody else")

    assert inspector.bearers() == {name.consumer: name.incarnation for name in names}


def test_the_archive_rests_as_long_as_the_breaker_says(
    real: RealRig, inspector: RedisInspector
) -> None:
    pace = RedisPace(
        real.client,
        real.keys,
        egresses=["direct"],
        rate_per_second=None,
        clock=SystemClock(),
        asker="host.bulk.1",
    )
    before = inspector.resting(["direct"])

    pace.went_badly(Permit("direct"), ArchiveThrottled("429", retry_after=timedelta(minutes=9)))

    assert before == NOW
    assert timedelta(minutes=8) < inspector.resting(["direct"]) <= timedelta(minutes=9)
