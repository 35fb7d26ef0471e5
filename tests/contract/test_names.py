"""Consumer names: stable over restarts, and borne by one process at a time."""

from datetime import timedelta

import pytest

from ppcfetch.errors import NameLost
from tests.contract.stream_rig import Rig
from tests.waiting import wait_until

SHORT = timedelta(milliseconds=50)


def test_processes_of_one_host_get_the_lowest_free_names(rig: Rig) -> None:
    names = [rig.take_name(incarnation).holder.consumer for incarnation in (1, 2, 3)]

    assert names == ["host.interactive.1", "host.interactive.2", "host.interactive.3"]


def test_a_restarted_process_gets_the_name_that_the_stopped_one_freed(rig: Rig) -> None:
    first, _ = rig.take_name(1), rig.take_name(2)
    first.release()

    assert rig.take_name(3).holder.consumer == first.holder.consumer


def test_hosts_do_not_share_names(rig: Rig) -> None:
    rig.take_name(1, host="host")

    assert rig.take_name(2, host="other").holder.consumer == "other.interactive.1"


def test_a_name_bears_the_incarnation_of_its_process(rig: Rig) -> None:
    name = rig.take_name(41)

    assert rig.bearer(name.holder.consumer) == 41
    assert name.holder.incarnation == 41


def test_taking_again_after_a_lost_answer_gives_the_same_name(rig: Rig) -> None:
    first = rig.take_name(1)

    assert rig.take_name(1).holder == first.holder


def test_a_name_that_is_not_kept_becomes_free_after_a_lease(rig: Rig) -> None:
    name = rig.take_name(1, lease=SHORT)
    rig.advance(SHORT)

    wait_until(lambda: rig.bearer(name.holder.consumer) is None, describe="the lock has expired")

    assert rig.take_name(2).holder.consumer == name.holder.consumer


def test_keeping_holds_the_name_for_another_lease(rig: Rig) -> None:
    name = rig.take_name(1)
    rig.shorten_name(name.holder.consumer, SHORT)

    name.keep()

    assert rig.name_is_held_for(name.holder.consumer) > SHORT


def test_a_name_whose_lock_was_lost_is_taken_back_by_keeping(rig: Rig) -> None:
    name = rig.take_name(1)
    rig.flushall()

    name.keep()

    assert rig.bearer(name.holder.consumer) == 1


def test_keeping_a_name_that_another_bears_is_refused_and_leaves_it_to_him(rig: Rig) -> None:
    sleeper = rig.take_name(1)
    rig.expire_name(sleeper.holder.consumer)
    successor = rig.take_name(2)

    with pytest.raises(NameLost):
        sleeper.keep()

    assert rig.bearer(successor.holder.consumer) == 2


def test_releasing_a_name_that_another_bears_leaves_it_to_him(rig: Rig) -> None:
    sleeper = rig.take_name(1)
    rig.expire_name(sleeper.holder.consumer)
    successor = rig.take_name(2)

    sleeper.release()

    assert rig.bearer(successor.holder.consumer) == 2


def test_with_full_memory_a_borne_name_is_kept(rig: Rig) -> None:
    name = rig.take_name(1)
    rig.fill()

    name.keep()

    rig.fill(full=False)
    assert rig.bearer(name.holder.consumer) == 1
