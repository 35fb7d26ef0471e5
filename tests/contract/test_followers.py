"""Who asked for a fetch or joined it: leaving it is not stopping it while others wait."""

import pytest

from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.job import JobState
from ppcfetch.ports import Asked, Request
from tests.contract.database_rig import Rig

SHOP = DomainName("shop.example")
ANN, BOB, EVE = 1, 2, 3


@pytest.fixture(autouse=True)
def _users(database: Rig) -> None:
    database.add_users(ANN, BOB, EVE)


def ask(database: Rig, who: int) -> Asked:
    return database.fetches.request(Request(SHOP, FetchReason.PERSON, asked_by=who))


def test_who_asked_alone_stops_it_by_leaving(database: Rig) -> None:
    asked = ask(database, ANN)

    stopped = database.fetches.leave(asked.fetch.id, ANN)

    assert stopped
    assert database.fetches.get(asked.fetch.id).state is FetchState.CANCELLED


def test_a_fetch_that_others_joined_goes_on_for_the_first_of_them(database: Rig) -> None:
    asked = ask(database, ANN)
    ask(database, BOB)
    ask(database, EVE)

    stopped = database.fetches.leave(asked.fetch.id, ANN)

    fetch = database.fetches.get(asked.fetch.id)
    assert not stopped
    assert (fetch.state, fetch.asked_by) == (FetchState.ACTIVE, BOB)
    assert database.row(asked.jobs[0][0]).state is JobState.QUEUED


def test_the_last_one_to_leave_stops_it(database: Rig) -> None:
    asked = ask(database, ANN)
    ask(database, BOB)
    ask(database, BOB)

    stopped = [database.fetches.leave(asked.fetch.id, who) for who in (ANN, BOB)]

    assert stopped == [False, True]


def test_a_running_job_is_not_disturbed_when_somebody_leaves(database: Rig) -> None:
    asked = ask(database, ANN)
    ask(database, BOB)
    lease = database.lease(asked.jobs[0][0])

    database.fetches.leave(asked.fetch.id, ANN)

    assert database.write(lease, last=True).ended


def test_an_ended_fetch_cannot_be_left(database: Rig) -> None:
    asked = ask(database, ANN)
    database.fetches.cancel(asked.fetch.id)

    assert not database.fetches.leave(asked.fetch.id, ANN)
