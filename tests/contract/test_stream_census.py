"""What the sweeper and operators learn of the streams: exact, whatever was deleted or lost."""

from datetime import timedelta

import pytest

from tests.contract.stream_rig import BULK, INTERACTIVE, NOW, Rig


def test_the_epoch_is_absent_until_it_is_restored_and_after_everything_was_lost(rig: Rig) -> None:
    before = rig.census.epoch()
    rig.census.restore("e1")
    restored = rig.census.epoch()
    rig.flushall()

    assert (before, restored, rig.census.epoch()) == (None, "e1", None)


def test_making_groups_again_destroys_nothing(rig: Rig) -> None:
    received = rig.received(1)
    rig.doorbell.publish([(2, INTERACTIVE)])

    rig.census.ensure_groups()
    rig.census.ensure_groups()

    assert [one.job_id for one in rig.deliveries("b").receive(5, NOW)] == [2]
    assert rig.settling().settle(received) == 1


def test_entries_that_nobody_has_or_will_get_are_deleted_and_no_others(rig: Rig) -> None:
    rig.received(1, 2)
    rig.delete_consumer("a")
    in_hand = rig.received(3, by="b")
    rig.doorbell.publish([(4, INTERACTIVE)])

    deleted = rig.census.delete_orphans()

    assert deleted == 2
    assert rig.census.delete_orphans() == 0
    assert rig.live_jobs() >= {3, 4}
    assert [one.job_id for one in rig.deliveries("c").receive(5, NOW)] == [4]
    assert rig.settling().settle(in_hand) == 1


def test_orphans_are_found_behind_many_entries_in_hand(rig: Rig) -> None:
    rig.received(*range(1, 451))
    rig.received(451, 452, by="b")
    rig.delete_consumer("b")

    assert rig.census.delete_orphans() == 2
    assert len(rig.messages()) == 450


def test_without_streams_there_are_no_orphans_and_no_consumers(rig: Rig) -> None:
    assert rig.census.delete_orphans() == 0
    assert rig.census.forget_consumers() == []


def test_a_job_whose_message_is_in_no_stream_is_forgotten(rig: Rig) -> None:
    rig.received(1, 2)
    rig.delete_entry(rig.messages()[0])

    rig.census.delete_orphans()

    assert rig.live_jobs() == {2}


def test_a_consumer_is_forgotten_when_it_holds_nothing_and_its_name_is_free(rig: Rig) -> None:
    rig.settling().settle(rig.received(1))

    forgotten = rig.census_of_the_hasty.forget_consumers()

    assert forgotten == ["a"]
    assert rig.consumers() == set()


def test_a_consumer_that_holds_a_delivery_is_kept_with_it(rig: Rig) -> None:
    received = rig.received(1)

    forgotten = rig.census_of_the_hasty.forget_consumers()

    assert forgotten == []
    assert rig.settling().settle(received) == 1


def test_a_consumer_whose_name_is_borne_is_kept(rig: Rig) -> None:
    name = rig.take_name(1).holder.consumer
    rig.settling().settle(rig.received(1, by=name))

    assert rig.census_of_the_hasty.forget_consumers() == []
    assert rig.consumers() == {name}


def test_a_consumer_that_was_active_today_is_kept(rig: Rig) -> None:
    rig.settling().settle(rig.received(1))

    assert rig.census.forget_consumers() == []
    assert rig.consumers() == {"a"}


def test_counts_are_exact_after_deletions_and_trims(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.doorbell.publish([(job, INTERACTIVE) for job in range(1, 11)])
    rig.deliveries("a").receive(2, NOW)
    for message_id in rig.messages()[1:5]:
        rig.delete_entry(message_id)

    counts = rig.counts()

    assert (counts.undelivered, counts.in_hand) == (5, 2)
    assert counts.oldest_waiting is not None
    assert NOW <= counts.oldest_waiting < timedelta(minutes=1)
    assert not rig.drained()


def test_nothing_waits_in_an_empty_or_absent_stream(rig: Rig) -> None:
    absent = rig.counts()
    rig.settling().settle(rig.received(1))

    for counts in (absent, rig.counts()):
        assert (counts.undelivered, counts.in_hand, counts.oldest_waiting) == (0, 0, None)
    assert rig.drained()
    assert rig.drained(BULK)


def test_entries_waiting_for_a_group_that_is_absent_are_counted(rig: Rig) -> None:
    rig.doorbell.publish([(1, INTERACTIVE)])

    assert rig.counts().undelivered == 1
    assert not rig.drained()


def test_orphans_count_neither_as_waiting_nor_as_in_hand(rig: Rig) -> None:
    rig.received(1)
    rig.delete_consumer("a")

    assert (rig.counts().undelivered, rig.counts().in_hand) == (0, 0)
    assert rig.drained()


@pytest.mark.parametrize("is_received", [False, True])
def test_where_a_job_is_can_be_told(rig: Rig, is_received: object) -> None:
    rig.census.ensure_groups()
    rig.doorbell.publish([(1, INTERACTIVE)])
    if is_received:
        rig.deliveries("a").receive(1, NOW)
        rig.age()

    found = rig.where(1)

    assert found is not None
    assert (found.pool, found.message_id) == (INTERACTIVE, rig.messages()[0])
    assert (found.consumer, found.deliveries) == (("a", 1) if is_received else (None, 0))
    assert (found.idle > timedelta(minutes=1)) is bool(is_received)


def test_a_job_without_message_or_with_one_that_reaches_nobody_is_nowhere(rig: Rig) -> None:
    rig.received(1)
    rig.delete_consumer("a")

    assert rig.where(1) is None
    assert rig.where(2) is None
