"""Receiving and accepting: each message in one hand, and only in a hand that bears its name."""

import pytest

from ppcfetch.errors import NameLost
from tests.contract.stream_rig import BULK, INTERACTIVE, NOW, Rig


def test_a_message_says_which_job_and_proves_whose_delivery_it_is(rig: Rig) -> None:
    (delivery,) = rig.received(7)

    assert (delivery.job_id, delivery.version, delivery.pool) == (7, 1, INTERACTIVE)
    assert delivery.raw == b'{"v":1,"job":7}'
    assert (delivery.token.consumer, delivery.token.deliveries) == ("a", 1)
    assert delivery.token.message_id == rig.messages()[0]


def test_no_more_are_received_than_there_are_free_slots(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.doorbell.publish([(job, INTERACTIVE) for job in range(1, 6)])
    consumer = rig.deliveries("a")

    counts = [len(consumer.receive(2, NOW)) for _ in range(4)]

    assert counts == [2, 2, 1, 0]


def test_two_consumers_share_the_messages_and_each_goes_to_one(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.doorbell.publish([(job, INTERACTIVE) for job in (1, 2, 3)])

    first = rig.deliveries("a").receive(2, NOW)
    second = rig.deliveries("b").receive(2, NOW)

    assert [one.job_id for one in (*first, *second)] == [1, 2, 3]


def test_a_consumer_sees_its_own_pool_only(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.doorbell.publish([(7, BULK)])

    assert rig.deliveries("a").receive(5, NOW) == []
    assert len(rig.deliveries("b", pool=BULK).receive(5, NOW)) == 1


@pytest.mark.parametrize(
    ("payload", "version"),
    [
        pytest.param(b"\xff\xfe", None, id="no text"),
        pytest.param(b"{", None, id="no JSON"),
        pytest.param(b"7", None, id="no object"),
        pytest.param(b'{"job":7}', None, id="no version"),
        pytest.param(b'{"v":true,"job":7}', None, id="a truth value for a version"),
        pytest.param(b'{"v":1}', None, id="no job"),
        pytest.param(b'{"v":1,"job":"7"}', None, id="a text for a job"),
        pytest.param(b'{"v":1,"job":-7}', None, id="a job below zero"),
        pytest.param(b'{"v":1,"job":%d}' % 2**63, None, id="a job that no row can have"),
        pytest.param(b'{"v":1,"job":' + b"9" * 5000 + b"}", None, id="a number without end"),
        pytest.param(b"[" * 900, None, id="nested without end"),
        pytest.param(b'{"v":2,"task":"x"}', 2, id="a newer worker's"),
    ],
)
def test_what_cannot_be_read_is_delivered_with_its_bytes(
    rig: Rig, payload: bytes, version: int | None
) -> None:
    rig.census.ensure_groups()
    rig.add(payload)

    (delivery,) = rig.deliveries("a").receive(1, NOW)

    assert (delivery.job_id, delivery.version, delivery.raw) == (None, version, payload)


def test_a_lost_group_is_made_again_at_the_beginning(rig: Rig) -> None:
    rig.doorbell.publish([(7, INTERACTIVE)])
    consumer = rig.deliveries("a")

    first = consumer.receive(5, NOW)
    second = consumer.receive(5, NOW)

    assert first == []
    assert [one.job_id for one in second] == [7]


def test_after_the_stream_was_deleted_new_messages_arrive(rig: Rig) -> None:
    rig.received(1)
    rig.delete_stream()
    consumer = rig.deliveries("a")
    rig.doorbell.publish([(2, INTERACTIVE)])

    received = [*consumer.receive(5, NOW), *consumer.receive(5, NOW)]

    assert [one.job_id for one in received] == [2]


def test_accepting_keeps_what_is_still_ours_and_makes_it_fresh(rig: Rig) -> None:
    received = rig.received(1, 2)
    rig.age()

    accepted = rig.deliveries("a").accept(received)

    assert accepted == received
    assert rig.deliveries("b").abandoned("0", 5) == []


def test_accepting_leaves_what_another_has_claimed_meanwhile(rig: Rig) -> None:
    received = rig.received(1, 2)
    rig.age()
    rig.deliveries("b").claim(received[:1])

    accepted = rig.deliveries("a").accept(received)

    assert [one.job_id for one in accepted] == [2]


def test_accepting_leaves_what_a_successor_of_our_name_has_claimed(rig: Rig) -> None:
    received = rig.received(1)
    rig.deliveries("a").history("0", 5)

    assert rig.deliveries("a").accept(received) == []


def test_accepting_leaves_what_was_deleted_or_lost(rig: Rig) -> None:
    received = rig.received(1, 2)
    rig.delete_entry(received[0].token.message_id)
    kept = rig.deliveries("a").accept(received)
    rig.flushall()

    assert kept == [received[1]]
    assert rig.deliveries("a").accept(received) == []


def test_accepting_under_a_name_that_another_bears_is_refused(rig: Rig) -> None:
    rig.take_name(2)
    received = rig.received(1, by="host.interactive.1")
    rig.age()

    with pytest.raises(NameLost):
        rig.deliveries("host.interactive.1", incarnation=1).accept(received)

    assert [one.job_id for one in rig.deliveries("b").abandoned("0", 5)] == [1]


def test_accepting_under_a_name_whose_lock_was_lost_takes_the_name_back(rig: Rig) -> None:
    rig.take_name(1)
    received = rig.received(1, by="host.interactive.1")
    rig.expire_name("host.interactive.1")

    accepted = rig.deliveries("host.interactive.1", incarnation=1).accept(received)

    assert accepted == received
    assert rig.bearer("host.interactive.1") == 1
