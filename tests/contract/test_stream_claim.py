"""Claiming: our own history, what a lost answer left, and what others have abandoned."""

from collections.abc import Callable

import pytest

from ppcfetch.errors import NameLost
from ppcfetch.model.lease import Delivery
from ppcfetch.ports import Deliveries
from tests.contract.stream_rig import INTERACTIVE, NOW, Rig


def ids(deliveries: "list[Delivery] | tuple[Delivery, ...]") -> list[int | None]:
    return [one.job_id for one in deliveries]


def test_a_restart_walks_its_history_once_by_id_as_slots_are_free(rig: Rig) -> None:
    rig.received(1, 2, 3)
    restarted = rig.deliveries("a", incarnation=2)
    rig.expire_name("a")

    walked, after = list[Delivery](), "0"
    while found := restarted.history(after, 2):
        walked += found
        after = found[-1].token.message_id

    assert ids(walked) == [1, 2, 3]
    assert {one.token.deliveries for one in walked} == {2}


def test_history_gives_new_tokens_so_that_a_sleeper_of_the_same_name_has_lost_his(
    rig: Rig,
) -> None:
    sleeper = rig.received(1)
    successor = rig.deliveries("a").history("0", 5)

    assert rig.settling().renew([one.token for one in sleeper]) == frozenset()
    assert rig.settling().settle(sleeper) == 0
    assert rig.settling().settle(successor) == 1


def test_history_is_our_own_and_not_what_others_hold(rig: Rig) -> None:
    rig.received(1, by="b")

    assert rig.deliveries("a").history("0", 5) == []


def test_history_leaves_out_entries_without_payload_for_good_and_goes_on(rig: Rig) -> None:
    received = rig.received(*range(1, 251))
    for gone in received[:249]:
        rig.delete_entry(gone.token.message_id)

    found = rig.deliveries("a").history("0", 1)

    assert ids([*found]) == [250]
    assert rig.counts().in_hand == 1


def test_without_stream_or_group_there_is_no_history_and_nothing_abandoned(rig: Rig) -> None:
    consumer = rig.deliveries("a")

    assert consumer.history("0", 5) == []
    assert consumer.reconcile([], 5) == []
    assert consumer.abandoned("0", 5) == []
    assert consumer.claim([]) == []


def test_what_a_lost_answer_left_is_found_behind_a_lease_and_bears_a_new_token(rig: Rig) -> None:
    in_hand, lost, _ = rig.received(1, 2, 3)
    consumer = rig.deliveries("a")
    early = consumer.reconcile([in_hand.token.message_id], 5)
    rig.age()

    found = consumer.reconcile([in_hand.token.message_id], 1)

    assert early == []
    assert ids([*found]) == [2]
    assert found[0].token.deliveries == lost.token.deliveries + 1


def test_reconciling_looks_behind_everything_that_is_in_hand(rig: Rig) -> None:
    received = rig.received(*range(1, 151))
    rig.age()

    found = rig.deliveries("a").reconcile([o.token.message_id for o in received[:149]], 5)

    assert ids([*found]) == [150]


def test_looking_for_the_abandoned_claims_nothing(rig: Rig) -> None:
    received = rig.received(1, 2)
    rescuer = rig.deliveries("b")
    early = rescuer.abandoned("0", 5)
    rig.age()

    seen = rescuer.abandoned("0", 5)

    assert early == []
    assert seen == received
    assert rig.settling().settle(received) == 2


def test_the_abandoned_are_our_own_never(rig: Rig) -> None:
    rig.received(1)
    rig.age()

    assert rig.deliveries("a").abandoned("0", 5) == []


def test_the_look_goes_on_to_the_end_behind_entries_that_may_not_be_claimed(rig: Rig) -> None:
    rig.received(*range(1, 251))
    rig.age()
    rescuer = rig.deliveries("b")

    seen, after = list[Delivery](), "0"
    while found := rescuer.abandoned(after, 100):
        seen += found
        after = found[-1].token.message_id

    assert ids(seen) == list(range(1, 251))


def test_the_look_is_not_ended_by_a_page_of_our_own_entries(rig: Rig) -> None:
    rig.received(*range(1, 121))
    rig.received(121, by="b")
    rig.age()

    assert ids([*rig.deliveries("a").abandoned("0", 5)]) == [121]


def test_abandoned_entries_without_payload_are_not_looked_at_for_ever(rig: Rig) -> None:
    received = rig.received(1, 2)
    rig.delete_entry(received[0].token.message_id)
    rig.age()

    assert ids([*rig.deliveries("b").abandoned("0", 5)]) == [2]
    assert rig.counts().in_hand == 1


def test_of_two_rescuers_one_wins(rig: Rig) -> None:
    rig.received(1)
    rig.age()
    first, second = rig.deliveries("b"), rig.deliveries("c")
    seen = second.abandoned("0", 5)

    won, lost = first.claim(first.abandoned("0", 5)), second.claim(seen)

    assert ids([*won]) == [1]
    assert (won[0].token.consumer, won[0].token.deliveries) == ("b", 2)
    assert lost == []


def test_what_was_renewed_since_the_look_is_not_claimed(rig: Rig) -> None:
    received = rig.received(1)
    rig.age()
    rescuer = rig.deliveries("b")
    seen = rescuer.abandoned("0", 5)
    rig.settling().renew([received[0].token])

    assert rescuer.claim(seen) == []


def test_claiming_what_was_settled_or_deleted_meanwhile_gives_nothing(rig: Rig) -> None:
    received = rig.received(1, 2)
    rig.age()
    rescuer = rig.deliveries("b")
    seen = rescuer.abandoned("0", 5)
    rig.settling().settle(received[:1])
    rig.delete_entry(received[1].token.message_id)

    assert rescuer.claim(seen) == []
    assert rig.counts().in_hand == 0


GUARDED: dict[str, Callable[[Deliveries, list[Delivery]], object]] = {
    "history": lambda consumer, _: consumer.history("0", 5),
    "reconcile": lambda consumer, _: consumer.reconcile([], 5),
    "claim": lambda consumer, seen: consumer.claim(seen),
}


@pytest.mark.parametrize("step", GUARDED)
def test_a_process_whose_name_is_borne_by_another_claims_nothing(rig: Rig, step: str) -> None:
    name = rig.take_name(2).holder.consumer
    received = [*rig.received(1, by=name), *rig.received(2, by="other")]
    rig.age()

    with pytest.raises(NameLost):
        GUARDED[step](rig.deliveries(name, incarnation=1), received)

    assert rig.settling().settle(received) == 2


@pytest.mark.parametrize("step", GUARDED)
def test_a_process_whose_name_was_lost_with_everything_goes_on(rig: Rig, step: str) -> None:
    rig.take_name(1)
    received = list(rig.received(1, by="other"))
    rig.flushall()

    GUARDED[step](rig.deliveries("host.interactive.1", incarnation=1), received)

    assert rig.bearer("host.interactive.1") == 1


def test_many_restarts_and_rescues_never_hand_one_message_to_two(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.doorbell.publish([(job, INTERACTIVE) for job in range(1, 31)])
    latest = {one.token.message_id: one for one in rig.deliveries("a").receive(30, NOW)}
    everyone = list(latest.values())

    for name in ("b", "c", "a") * 3:
        rig.age()
        consumer = rig.deliveries(name)
        claimed = [*consumer.claim(consumer.abandoned("0", 10)), *consumer.history("0", 5)]
        everyone += claimed
        latest |= {one.token.message_id: one for one in claimed}

    stale = [one for one in everyone if latest[one.token.message_id] != one]
    assert rig.settling().settle(stale) == 0
    assert rig.settling().settle(list(latest.values())) == 30
    assert rig.drained()
