"""Following a fetch: who waits for it, and what his leaving ends."""

import pytest

from ppcfetch.errors import Refused
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.following import Company, Leaving
from ppcfetch.model.job import JobState
from ppcfetch.model.outcome import Done
from ppcfetch.ports import Request
from tests.contract.database_rig import MOMENT, Rig

SHOP = "shop.example"


def ask_as(database: Rig, user: int, domain: str = SHOP, *, limit: int | None = None) -> int:
    """Give the fetch that a person asked for or joined."""
    request = Request(DomainName(domain), FetchReason.PERSON, asked_by=user, limit=limit)
    return database.fetches.request(request).fetch.id


def test_who_asked_alone_stops_the_fetch_by_leaving_it(database: Rig) -> None:
    ann = database.person(7)
    fetch = ask_as(database, ann)

    before = database.followers.company(fetch, ann)
    left = database.followers.leave(fetch, ann)

    assert (before, left) == (Company(follows=True, goes_on=False), Leaving.STOPPED)
    assert database.fetches.get(fetch).state is FetchState.CANCELLED


def test_a_fetch_that_others_joined_goes_on_for_them_and_is_theirs(database: Rig) -> None:
    ann, ben, cas = (database.person(number) for number in (7, 8, 9))
    fetch = ask_as(database, ann)
    for joining in (cas, ben):
        database.passes(MOMENT)
        assert ask_as(database, joining) == fetch

    company = database.followers.company(fetch, ann)
    left = database.followers.leave(fetch, ann)

    now = database.fetches.get(fetch)
    assert (company, left) == (Company(follows=True, goes_on=True), Leaving.LEFT)
    assert (now.state, now.asked_by) == (FetchState.ACTIVE, cas)
    assert database.followers.company(fetch, ann) == Company()


def test_the_last_one_to_leave_stops_it_whoever_asked(database: Rig) -> None:
    ann, ben = database.person(7), database.person(8)
    fetch = ask_as(database, ann)
    ask_as(database, ben)

    left = [database.followers.leave(fetch, who) for who in (ann, ben)]

    assert left == [Leaving.LEFT, Leaving.STOPPED]
    assert database.fetches.get(fetch).state is FetchState.CANCELLED


def test_who_joined_may_leave_and_the_asker_stays_the_asker(database: Rig) -> None:
    ann, ben = database.person(7), database.person(8)
    fetch = ask_as(database, ann)
    ask_as(database, ben)

    left = database.followers.leave(fetch, ben)

    assert (left, database.fetches.get(fetch).asked_by) == (Leaving.LEFT, ann)


def test_leaving_gives_back_ones_place_among_the_fetches_at_once(database: Rig) -> None:
    ann, ben = database.person(7), database.person(8)
    fetch = ask_as(database, ann)
    ask_as(database, ben)
    with pytest.raises(Refused):
        ask_as(database, ann, "other.example", limit=1)

    database.followers.leave(fetch, ann)

    assert ask_as(database, ann, "other.example", limit=1) != fetch


@pytest.mark.parametrize("reason", [FetchReason.COMMAND, FetchReason.IMPORT, FetchReason.SCHEDULE])
def test_what_no_person_began_goes_on_when_those_who_joined_have_left(
    database: Rig, reason: FetchReason
) -> None:
    ann = database.person(7)
    fetch = database.ask(reason=reason).fetch.id
    ask_as(database, ann)

    company = database.followers.company(fetch, ann)
    left = database.followers.leave(fetch, ann)

    assert (company, left) == (Company(follows=True, goes_on=True), Leaving.LEFT)
    assert database.fetches.get(fetch).state is FetchState.ACTIVE


def test_a_stranger_ends_nothing(database: Rig) -> None:
    ann, ben = database.person(7), database.person(8)
    fetch = ask_as(database, ann)

    left = [database.followers.leave(number, ben) for number in (fetch, 999_999)]

    assert left == [Leaving.STRANGER, Leaving.STRANGER]
    assert database.followers.company(fetch, ben) == Company()
    assert database.fetches.get(fetch).state is FetchState.ACTIVE


def test_what_has_ended_cannot_be_left(database: Rig) -> None:
    ann = database.person(7)
    asked = database.fetches.request(Request(DomainName(SHOP), FetchReason.PERSON, asked_by=ann))
    database.jobs.settle([(database.lease(asked.jobs[0][0]), Done())])

    left = database.followers.leave(asked.fetch.id, ann)

    assert left is Leaving.OVER
    assert database.fetches.get(asked.fetch.id).state is FetchState.DONE


def test_stopping_by_leaving_takes_the_lease_from_whoever_runs_the_job(database: Rig) -> None:
    ann = database.person(7)
    request = Request(DomainName(SHOP), FetchReason.PERSON, asked_by=ann)
    asked = database.fetches.request(request)
    lease = database.lease(asked.jobs[0][0])

    database.followers.leave(asked.fetch.id, ann)

    job = database.row(lease.job.id)
    assert (job.state, job.fence) == (JobState.CANCELLED, lease.fence + 1)
    assert database.jobs.beat([lease]) == frozenset()


def test_joining_twice_is_joining_once(database: Rig) -> None:
    ann = database.person(7)
    fetch = ask_as(database, ann)
    ask_as(database, ann)

    assert database.followers.leave(fetch, ann) is Leaving.STOPPED


def test_a_running_job_is_not_disturbed_when_somebody_leaves(database: Rig) -> None:
    ann, ben = database.person(7), database.person(8)
    request = Request(DomainName(SHOP), FetchReason.PERSON, asked_by=ann)
    asked = database.fetches.request(request)
    ask_as(database, ben)
    lease = database.lease(asked.jobs[0][0])

    database.followers.leave(asked.fetch.id, ann)

    assert database.write(lease, last=True).ended
