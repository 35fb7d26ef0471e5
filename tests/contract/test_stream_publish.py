"""Publishing: at most one live message a job, and never none for long."""

import pytest

from ppcfetch.errors import StreamUnavailable
from tests.contract.stream_rig import BULK, INTERACTIVE, NOW, Rig


def test_a_job_rings_once_however_often_it_is_published(rig: Rig) -> None:
    added = sum(rig.doorbell.publish([(7, INTERACTIVE)]) for _ in range(230))

    assert added == 1
    assert len(rig.messages()) == 1


def test_a_job_in_somebodys_hand_does_not_ring_again(rig: Rig) -> None:
    rig.received(7)

    added = sum(rig.doorbell.publish([(7, INTERACTIVE)]) for _ in range(230))

    assert added == 0


def test_the_same_job_twice_in_one_batch_rings_once(rig: Rig) -> None:
    added = rig.doorbell.publish([(7, INTERACTIVE), (8, BULK), (7, INTERACTIVE)])

    assert added == 2
    assert (len(rig.messages()), len(rig.messages(BULK))) == (1, 1)


def test_a_message_in_a_hand_of_the_other_pool_counts_as_live(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.doorbell.publish([(7, BULK)])
    rig.deliveries("a", pool=BULK).receive(1, NOW)

    assert rig.doorbell.publish([(7, INTERACTIVE)]) == 0
    assert rig.messages() == []


def test_a_message_that_waits_in_the_other_pool_moves_to_the_right_one(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.doorbell.publish([(7, BULK), (8, BULK), (9, INTERACTIVE)])

    added = [rig.doorbell.publish([(7, INTERACTIVE)]) for _ in range(2)]
    received = rig.deliveries("a").receive(9, NOW)
    in_bulk = rig.deliveries("a", pool=BULK).receive(9, NOW)

    assert added == [1, 0]
    assert [one.job_id for one in received] == [9, 7]
    assert [one.job_id for one in in_bulk] == [8]


def test_a_batch_larger_than_one_step_is_published_whole(rig: Rig) -> None:
    jobs = [(job, BULK) for job in range(1, 1201)]

    assert rig.doorbell.publish(jobs) == 1200
    assert rig.doorbell.publish(jobs) == 0
    assert len(rig.messages(BULK)) == 1200


def test_a_settled_job_can_ring_again(rig: Rig) -> None:
    rig.settling().settle(rig.received(7))

    assert rig.doorbell.publish([(7, INTERACTIVE)]) == 1


def test_an_entry_that_lost_its_consumer_is_replaced_since_nobody_will_ever_get_it(
    rig: Rig,
) -> None:
    rig.received(7)
    orphan = rig.messages()
    rig.delete_consumer("a")

    added = rig.doorbell.publish([(7, INTERACTIVE)])

    assert added == 1
    assert len(rig.messages()) == 1
    assert rig.messages() != orphan
    assert [one.job_id for one in rig.deliveries("b").receive(5, NOW)] == [7]


def test_a_waiting_entry_that_was_trimmed_away_is_published_again(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.doorbell.publish([(7, INTERACTIVE)])
    rig.delete_entry(rig.messages()[0])

    assert rig.doorbell.publish([(7, INTERACTIVE)]) == 1


def test_a_pending_entry_without_payload_is_replaced_and_leaves_the_pending_list(rig: Rig) -> None:
    lost = rig.received(7)
    rig.delete_entry(lost[0].token.message_id)

    assert rig.doorbell.publish([(7, INTERACTIVE)]) == 1
    assert rig.counts().in_hand == 0
    assert rig.settling().settle(lost) == 0


def test_everything_lost_is_published_again(rig: Rig) -> None:
    rig.received(7)
    rig.flushall()

    assert rig.doorbell.publish([(7, INTERACTIVE)]) == 1


def test_a_lost_group_makes_every_entry_wait_again_so_nothing_rings_twice(rig: Rig) -> None:
    rig.received(7)
    rig.destroy_group()

    assert rig.doorbell.publish([(7, INTERACTIVE)]) == 0
    rig.census.ensure_groups()
    assert [one.job_id for one in rig.deliveries("b").receive(5, NOW)] == [7]


def test_ids_from_a_clock_that_ran_ahead_do_not_disturb_the_order(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.add(b'{"v":1,"job":1}', message_id="9999999999999-18446744073709551000")
    first = rig.deliveries("a").receive(5, NOW)

    added = [rig.doorbell.publish([(2, INTERACTIVE)]) for _ in range(3)]

    second = rig.deliveries("a").receive(5, NOW)
    assert added == [1, 0, 0]
    assert [one.job_id for one in (*first, *second)] == [1, 2]
    assert rig.doorbell.publish([(2, INTERACTIVE)]) == 0


def test_a_full_memory_refuses_and_changes_nothing(rig: Rig) -> None:
    rig.received(7)
    rig.delete_consumer("a")
    before = rig.messages()
    rig.fill()

    with pytest.raises(StreamUnavailable):
        rig.doorbell.publish([(7, INTERACTIVE)])

    rig.fill(full=False)
    assert rig.messages() == before
    assert rig.doorbell.publish([(7, INTERACTIVE)]) == 1
