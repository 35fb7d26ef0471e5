"""Removing a consumer: never while something would be lost by it."""

import pytest

from ppcfetch.errors import NotFound, Refused
from ppcfetch.model.operation import Action, Deed
from ppcfetch.usecases.remove_consumer import remove_consumer
from tests.contract.stream_rig import Rig
from tests.fakes_database import FakeDatabase

REMOVE = Deed("ann", Action.REMOVE_CONSUMER, "the machine is gone")


def test_an_idle_consumer_can_be_removed_however_lately_it_worked(rig: Rig) -> None:
    rig.settling().settle(rig.received(1))

    assert rig.operators.remove_consumer("a")
    assert rig.consumers() == set()


def test_an_unknown_consumer_is_not_removed(rig: Rig) -> None:
    rig.census.ensure_groups()

    assert not rig.operators.remove_consumer("nobody")


def test_removing_a_consumer_that_holds_work_is_refused(rig: Rig) -> None:
    received = rig.received(1)

    with pytest.raises(Refused, match="holds"):
        rig.operators.remove_consumer("a")

    assert rig.settling().settle(received) == 1


def test_removing_a_consumer_whose_process_lives_is_refused(rig: Rig) -> None:
    name = rig.take_name(1).holder.consumer
    rig.settling().settle(rig.received(1, by=name))

    with pytest.raises(Refused, match="name"):
        rig.operators.remove_consumer(name)

    assert rig.consumers() == {name}


def test_a_removal_is_kept_in_the_audit_and_a_refusal_is_not(rig: Rig) -> None:
    database = FakeDatabase()
    rig.settling().settle(rig.received(1, by="idle"))
    rig.received(2, by="busy")

    remove_consumer("idle", REMOVE, consumers=rig.operators, audit=database)
    for name, why in {"busy": Refused, "nobody": NotFound}.items():
        with pytest.raises(why):
            remove_consumer(name, REMOVE, consumers=rig.operators, audit=database)

    assert [(one.target, one.deed) for one in database.audit] == [("consumer idle", REMOVE)]
