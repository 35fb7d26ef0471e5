"""Renewing, settling, moving and burying: only what bears the token, and never by halves."""

import pytest

from ppcfetch.errors import StreamUnavailable
from ppcfetch.model.lease import Delivery
from tests.contract.stream_rig import BULK, INTERACTIVE, NOW, Rig


def stolen(rig: Rig, *jobs: int) -> tuple[list[Delivery], list[Delivery]]:
    """What a sleeper still believes to hold, and what its rescuer holds instead."""
    received = [*rig.received(*jobs)]
    rig.age()
    return received, [*rig.deliveries("b").claim(received)]


def test_a_renewed_delivery_is_nothing_to_rescue(rig: Rig) -> None:
    received = rig.received(1, 2)
    rig.age()

    renewed = rig.settling().renew([one.token for one in received])

    assert renewed == {one.token.message_id for one in received}
    assert rig.deliveries("b").abandoned("0", 5) == []


def test_thirty_renewals_leave_the_delivery_counter_and_so_the_token_alone(rig: Rig) -> None:
    (delivery,) = rig.received(1)

    renewals = [rig.settling().renew([delivery.token]) for _ in range(30)]

    assert all(renewals)
    whereabouts = rig.where(1)
    assert whereabouts is not None
    assert whereabouts.deliveries == 1


def test_a_sleeper_that_renews_does_not_steal_back(rig: Rig) -> None:
    sleeping, rescued = stolen(rig, 1)

    renewed = rig.settling().renew([sleeping[0].token])

    assert renewed == frozenset()
    assert rig.settling().renew([rescued[0].token]) == {rescued[0].token.message_id}


def test_a_renewal_brings_nothing_back_that_was_settled_deleted_or_lost(rig: Rig) -> None:
    received = rig.received(1, 2, 3)
    tokens = [one.token for one in received]
    rig.settling().settle(received[:1])
    rig.delete_entry(received[1].token.message_id)

    assert rig.settling().renew(tokens) == {received[2].token.message_id}
    rig.flushall()
    assert rig.settling().renew(tokens) == frozenset()
    assert rig.settling().renew([]) == frozenset()


def test_settling_removes_the_message_and_forgets_it(rig: Rig) -> None:
    received = rig.received(1, 2)

    settled = rig.settling().settle(received)

    assert settled == 2
    assert (rig.messages(), rig.live_jobs(), rig.drained()) == ([], set(), True)


def test_settling_twice_is_settling_once(rig: Rig) -> None:
    received = rig.received(1)
    rig.settling().settle(received)

    assert rig.settling().settle(received) == 0
    assert rig.settling().settle([]) == 0


def test_a_sleeper_that_settles_leaves_the_claim_of_its_rescuer(rig: Rig) -> None:
    sleeping, rescued = stolen(rig, 1)

    settled = rig.settling().settle(sleeping)

    assert settled == 0
    assert rig.settling().settle(rescued) == 1


def test_settling_an_old_entry_leaves_the_newer_message_of_the_job_alone(rig: Rig) -> None:
    received = rig.received(1)
    rig.delete_consumer("a")
    rig.doorbell.publish([(1, INTERACTIVE)])

    assert rig.settling().settle(received) == 0
    assert rig.live_jobs() == {1}


def test_settling_what_has_lost_its_payload_ends_it(rig: Rig) -> None:
    received = rig.received(1)
    rig.delete_entry(received[0].token.message_id)

    assert rig.settling().settle(received) == 1
    assert (rig.drained(), rig.live_jobs()) == (True, set())


@pytest.mark.parametrize("pool", [INTERACTIVE, BULK], ids=["handed back", "spilled"])
def test_a_moved_delivery_waits_in_the_pool_and_nowhere_else(rig: Rig, pool: object) -> None:
    target = BULK if pool is BULK else INTERACTIVE
    received = rig.received(1, 2)
    rig.census.ensure_groups()

    moved = rig.settling().move(received, target)

    assert moved == 2
    assert rig.counts().in_hand == 0
    assert rig.counts(target).undelivered == 2
    assert len(rig.messages()) + len(rig.messages(BULK)) == 2
    assert rig.doorbell.publish([(1, target), (2, target)]) == 0
    again = rig.deliveries("c", pool=target).receive(5, NOW)
    assert [(one.job_id, one.token.deliveries) for one in again] == [(1, 1), (2, 1)]


def test_a_sleeper_moves_nothing(rig: Rig) -> None:
    sleeping, rescued = stolen(rig, 1)

    moved = rig.settling().move(sleeping, BULK)

    assert moved == 0
    assert rig.messages(BULK) == []
    assert rig.settling().settle(rescued) == 1


def test_moving_twice_publishes_once(rig: Rig) -> None:
    received = rig.received(1)
    rig.settling().move(received, BULK)

    assert rig.settling().move(received, BULK) == 0
    assert len(rig.messages(BULK)) == 1


def test_a_newer_message_that_cannot_be_read_is_moved_as_it_came(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.add(b'{"v":2,"task":"x"}')
    received = rig.deliveries("a").receive(1, NOW)

    moved = rig.settling().move(received, INTERACTIVE)

    assert moved == 1
    assert [one.raw for one in rig.deliveries("b").receive(1, NOW)] == [b'{"v":2,"task":"x"}']


def test_moving_with_another_live_message_settles_only(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.add(b'{"v":1,"job":1}')
    rig.doorbell.publish([(1, BULK)])
    foreign = rig.deliveries("a").receive(1, NOW)

    moved = rig.settling().move(foreign, BULK)

    assert moved == 1
    assert (rig.messages(), len(rig.messages(BULK))) == ([], 1)


def test_a_dead_letter_keeps_bytes_and_reason_and_ends_the_delivery(rig: Rig) -> None:
    rig.census.ensure_groups()
    rig.add(b"\xff not ours")
    readable = rig.received(1)
    received = [*readable, *rig.deliveries("a").receive(5, NOW)]

    buried = [rig.settling().dead_letter(one, f"reason {n}") for n, one in enumerate(received)]

    assert buried == [True, True]
    assert sorted(rig.dead(), key=lambda letter: letter[0] or 0) == [
        (None, b"\xff not ours", "reason 0"),
        (1, b'{"v":1,"job":1}', "reason 1"),
    ]
    assert (rig.drained(), rig.messages(), rig.live_jobs()) == (True, [], set())


def test_a_sleeper_buries_nothing(rig: Rig) -> None:
    sleeping, rescued = stolen(rig, 1)

    buried = rig.settling().dead_letter(sleeping[0], "given up")

    assert not buried
    assert rig.dead() == []
    assert rig.settling().settle(rescued) == 1


def test_burying_twice_leaves_one_letter(rig: Rig) -> None:
    (delivery,) = rig.received(1)
    rig.settling().dead_letter(delivery, "given up")

    assert not rig.settling().dead_letter(delivery, "given up")
    assert len(rig.dead()) == 1


def test_with_full_memory_a_dead_letter_is_refused_and_the_delivery_kept(rig: Rig) -> None:
    (delivery,) = rig.received(1)
    rig.fill()

    with pytest.raises(StreamUnavailable):
        rig.settling().dead_letter(delivery, "given up")

    assert rig.where(1) is not None
    rig.fill(full=False)
    assert rig.settling().dead_letter(delivery, "given up")


def test_with_full_memory_a_move_is_refused_and_the_delivery_kept(rig: Rig) -> None:
    received = rig.received(1)
    rig.fill()

    with pytest.raises(StreamUnavailable):
        rig.settling().move(received, BULK)

    rig.fill(full=False)
    assert rig.settling().settle(received) == 1


def test_with_full_memory_work_in_hand_is_renewed_and_settled(rig: Rig) -> None:
    received = rig.received(1, 2)
    rig.fill()

    renewed = rig.settling().renew([one.token for one in received])
    settled = rig.settling().settle(received)

    assert (len(renewed), settled) == (2, 2)
    assert rig.drained()
