"""What operators do and see: consumers removed with care, dead letters read and discarded."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ppcfetch.adapters.redis.dead_letters import RedisDeadLetters
from ppcfetch.adapters.redis.inspector import RedisInspector
from ppcfetch.adapters.redis.settling import LONGEST_RAW_BYTES, LONGEST_REASON
from ppcfetch.errors import NotFound
from tests.contract.stream_rig import INTERACTIVE, NOW, RealRig

LETTER_OF_ANOTHER: dict[Any, Any] = {
    "job": "1",
    "raw": "{}",
    "reason": "given up",
    "pool": "bulk",
    "message": "1-1",
    "deliveries": "1",
    "at_ms": "1",
}


@pytest.fixture
def real(real_redis_url: str) -> Iterator[RealRig]:
    """The ports on each real server."""
    rig = RealRig(real_redis_url)
    yield rig
    rig.close()


@pytest.fixture
def letters(real: RealRig) -> RedisDeadLetters:
    """The dead letters."""
    return RedisDeadLetters(real.client, real.keys)


def bury(real: RealRig, job: int, reason: str) -> None:
    """Give a job up."""
    real.settling().dead_letter(real.received(job)[0], reason)


def test_consumers_are_listed_with_what_they_hold(real: RealRig) -> None:
    real.received(1, 2)

    (consumer,) = RedisInspector(real.client, real.keys).consumers()

    assert (consumer.pool, consumer.name, consumer.held) == (INTERACTIVE, "a", 2)
    assert NOW <= consumer.idle < timedelta(minutes=1)


def test_a_dead_letter_says_what_it_was_and_when_it_was_given_up(
    real: RealRig, letters: RedisDeadLetters
) -> None:
    (delivery,) = real.received(7)
    real.settling().dead_letter(delivery, "starts used up")

    (letter,) = letters.newest()

    assert (letter.job_id, letter.reason, letter.pool) == (7, "starts used up", INTERACTIVE)
    assert (letter.message_id, letter.deliveries) == (delivery.token.message_id, 1)
    assert abs(datetime.now(UTC) - letter.at) < timedelta(minutes=1)
    assert letters.get(letter.id) == letter


def test_dead_letters_are_paged_newest_first(real: RealRig, letters: RedisDeadLetters) -> None:
    for job in (1, 2, 3):
        bury(real, job, "given up")

    first = letters.newest(count=2)
    second = letters.newest(before=first[-1].id, count=2)

    assert [one.job_id for one in (*first, *second)] == [3, 2, 1]
    assert letters.newest(before=second[-1].id) == []
    assert letters.count() == 3


def test_a_discarded_letter_is_gone(real: RealRig, letters: RedisDeadLetters) -> None:
    bury(real, 1, "given up")
    (letter,) = letters.newest()

    assert letters.discard(letter.id)
    assert not letters.discard(letter.id)
    with pytest.raises(NotFound):
        letters.get(letter.id)


def test_the_letters_of_a_job_are_found_among_all_others(
    real: RealRig, letters: RedisDeadLetters
) -> None:
    pipeline = real.client.pipeline(transaction=False)
    bury(real, 7, "first")
    for _ in range(1_200):
        pipeline.xadd(real.keys.dead, LETTER_OF_ANOTHER)
    pipeline.execute()
    bury(real, 7, "second")

    assert [one.reason for one in letters.of_job(7)] == ["first", "second"]
    assert letters.of_job(9) == []


def test_letters_that_name_no_job_can_be_read_alone(
    real: RealRig, letters: RedisDeadLetters
) -> None:
    bury(real, 7, "given up")
    real.add(b"rubbish")
    (delivery,) = real.deliveries("a").receive(1, NOW)
    real.settling().dead_letter(delivery, "the message cannot be read")

    assert [one.raw for one in letters.unreadable()] == [b"rubbish"]


def test_an_id_that_can_be_no_letters_is_not_found(
    real: RealRig, letters: RedisDeadLetters
) -> None:
    with pytest.raises(NotFound):
        letters.get("nonsense")

    assert not letters.discard("nonsense")
    assert letters.newest(before="nonsense") == []


def test_long_reasons_and_long_rubbish_are_kept_in_part(
    real: RealRig, letters: RedisDeadLetters
) -> None:
    real.census.ensure_groups()
    real.add(b"\xff" * 10_000)
    (delivery,) = real.deliveries("a").receive(1, NOW)

    real.settling().dead_letter(delivery, "why? " * 1000)

    (letter,) = letters.newest()
    assert letter.job_id is None
    assert letter.raw == b"\xff" * LONGEST_RAW_BYTES
    assert len(letter.reason) == LONGEST_REASON


def test_the_dead_letters_are_bounded(real: RealRig, letters: RedisDeadLetters) -> None:
    pipeline = real.client.pipeline(transaction=False)
    for _ in range(10_300):
        pipeline.xadd(real.keys.dead, {"job": "1"})
    pipeline.execute()

    bury(real, 7, "given up")

    assert letters.count() <= 10_100
    assert letters.newest(count=1)[0].job_id == 7
