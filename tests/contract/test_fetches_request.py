"""Asking for a fetch: made, joined or refused, and which pool its job waits in."""

from datetime import timedelta

import pytest

from ppcfetch.errors import NotFound, Refused
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.job import JobKind, JobState, Pool
from ppcfetch.model.outcome import Dead, Done, RetryLater, Spill
from ppcfetch.ports import Asked, Request
from tests.contract.database_rig import LEASE, MOMENT, Rig

SHOP = DomainName("shop.example")
DAY = timedelta(days=1)


def ask_as(database: Rig, user: int, domain: str, *, limit: int = 2) -> Asked:
    """Ask as a person who may have so many active fetches."""
    request = Request(DomainName(domain), FetchReason.PERSON, asked_by=user, limit=limit)
    return database.fetches.request(request)


def read_to_its_end(database: Rig) -> int:
    """Give the id of a fetch of the shop that is done."""
    asked = database.ask()
    database.jobs.settle([(database.lease(asked.jobs[0][0]), Done())])
    return asked.fetch.id


@pytest.mark.parametrize(
    ("reason", "pool"),
    [
        (FetchReason.PERSON, Pool.INTERACTIVE),
        (FetchReason.COMMAND, Pool.INTERACTIVE),
        (FetchReason.IMPORT, Pool.BULK),
        (FetchReason.SCHEDULE, Pool.BULK),
    ],
)
def test_a_request_is_a_fetch_and_its_first_job_in_the_pool_of_its_reason(
    database: Rig, reason: FetchReason, pool: Pool
) -> None:
    asked = database.fetches.request(Request(SHOP, reason, asked_by=7))

    [(job_id, named_pool)] = asked.jobs
    job, fetch = database.row(job_id), asked.fetch
    assert (asked.joined, named_pool, job.pool) == (False, pool, pool)
    assert (job.fetch_id, job.kind, job.state) == (fetch.id, JobKind.WALK, JobState.QUEUED)
    assert (job.query.domain, job.fence, job.starts, job.pages) == (SHOP, 0, 0, 0)
    assert (fetch.domain, fetch.state, fetch.reason) == (SHOP, FetchState.ACTIVE, reason)
    assert (fetch.asked_by, fetch.started_at, fetch.finished_at) == (7, None, None)
    assert database.fetches.get(fetch.id) == fetch


def test_a_fetch_that_is_not_there_is_not_found(database: Rig) -> None:
    with pytest.raises(NotFound):
        database.fetches.get(999_999)


def test_a_second_request_joins_the_active_fetch_and_may_ring_again(database: Rig) -> None:
    first = database.ask()

    second = database.ask()

    assert second == Asked(first.fetch, first.jobs, joined=True)


def test_a_request_that_joins_does_not_ring_for_what_runs_or_waits(database: Rig) -> None:
    asked = database.ask()
    lease = database.lease(asked.jobs[0][0])
    while_running = database.ask()
    database.jobs.settle([(lease, RetryLater(LEASE, "later"))])
    while_waiting = database.ask()

    assert (while_running.jobs, while_waiting.jobs) == ((), ())


def test_a_person_who_joins_brings_a_bulk_fetch_that_has_not_begun_to_the_front(
    database: Rig,
) -> None:
    [(job_id, _)] = database.ask(reason=FetchReason.SCHEDULE).jobs

    joined = database.ask(reason=FetchReason.PERSON)

    assert joined.jobs == ((job_id, Pool.INTERACTIVE),)
    assert database.row(job_id).pool is Pool.INTERACTIVE


def test_a_schedule_that_joins_moves_nothing(database: Rig) -> None:
    [(job_id, _)] = database.ask(reason=FetchReason.IMPORT).jobs

    joined = database.ask(reason=FetchReason.SCHEDULE)

    assert joined.jobs == ((job_id, Pool.BULK),)


def test_a_person_who_joins_does_not_bring_back_what_has_spilled(database: Rig) -> None:
    [(job_id, _)] = database.ask().jobs
    database.jobs.settle([(database.lease(job_id), Spill())])

    joined = database.ask()

    assert joined.jobs == ((job_id, Pool.BULK),)


def test_a_fresh_domain_is_refused_and_leaves_no_fetch(database: Rig) -> None:
    done = read_to_its_end(database)
    database.passes(DAY - MOMENT)

    with pytest.raises(Refused, match=r"shop\.example is fresh"):
        database.fetches.request(Request(SHOP, FetchReason.PERSON, window=DAY))

    with pytest.raises(NotFound):
        database.fetches.get(done + 1)


def test_a_domain_is_stale_when_the_window_is_over(database: Rig) -> None:
    read_to_its_end(database)
    database.passes(DAY)

    asked = database.fetches.request(Request(SHOP, FetchReason.PERSON, window=DAY))

    assert not asked.joined


def test_force_asks_for_a_fresh_domain(database: Rig) -> None:
    read_to_its_end(database)

    asked = database.fetches.request(Request(SHOP, FetchReason.PERSON, force=True, window=DAY))

    assert not asked.joined


def test_a_failed_fetch_does_not_make_a_domain_fresh(database: Rig) -> None:
    asked = database.ask()
    database.jobs.settle([(database.lease(asked.jobs[0][0]), Dead("no use"))])

    again = database.fetches.request(Request(SHOP, FetchReason.PERSON, window=DAY))

    assert again.fetch.id != asked.fetch.id


def test_an_active_fetch_of_a_fresh_domain_can_be_joined(database: Rig) -> None:
    read_to_its_end(database)
    active = database.ask()

    joined = database.fetches.request(Request(SHOP, FetchReason.PERSON, window=DAY))

    assert (joined.joined, joined.fetch.id) == (True, active.fetch.id)


def test_nobody_has_more_active_fetches_than_his_limit(database: Rig) -> None:
    ask_as(database, 7, "one.example")
    ask_as(database, 7, "two.example")

    with pytest.raises(Refused):
        ask_as(database, 7, "three.example")

    assert not ask_as(database, 8, "three.example").joined


def test_joining_and_ended_fetches_do_not_count_towards_the_limit(database: Rig) -> None:
    first = ask_as(database, 7, "one.example")
    ask_as(database, 7, "two.example")
    database.ask("three.example")

    joined = ask_as(database, 7, "three.example")
    database.fetches.cancel(first.fetch.id)

    assert joined.joined
    assert not ask_as(database, 7, "four.example").joined
