"""Asking by the hundred: the same rules as one by one, in one transaction."""

from datetime import timedelta

import pytest

from ppcfetch.errors import NotFound
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.outcome import Dead, Done
from ppcfetch.ports import Answered, Request, Wish
from tests.contract.database_rig import Rig

DAY = timedelta(days=1)
NEW, ACTIVE, FRESH, STALE, FAILED = (
    DomainName(f"{name}.example") for name in ("new", "active", "fresh", "stale", "failed")
)


def a_wish(reason: FetchReason = FetchReason.IMPORT) -> Wish:
    """Give a wish for domains that are a day old."""
    return Wish(reason, window=DAY)


def one_of_each(database: Rig) -> list[DomainName]:
    """Give a domain of every kind: one is fresh, one active, three are to be asked for."""
    for domain, outcome, later in ((STALE, Done(), DAY), (FRESH, Done(), DAY / 2)):
        asked = database.ask(domain.name)
        database.jobs.settle([(database.lease(asked.jobs[0][0]), outcome)])
        database.passes(later)
    failed = database.ask(FAILED.name)
    database.jobs.settle([(database.lease(failed.jobs[0][0]), Dead("no use"))])
    database.ask(ACTIVE.name)
    return [FRESH, NEW, ACTIVE, FAILED, STALE]


def names(database: Rig, answer: Answered) -> set[DomainName]:
    """Give the domains of the jobs that ring now."""
    return {database.row(job_id).query.domain for job_id, _ in answer.jobs}


def test_fresh_and_active_domains_are_counted_and_the_others_asked_for(database: Rig) -> None:
    domains = one_of_each(database)

    answer = database.imports.ask(domains, a_wish())

    assert (answer.fresh, answer.active) == (1, 1)
    assert names(database, answer) == {NEW, FAILED, STALE}


def test_looking_tells_the_same_and_stores_nothing(database: Rig) -> None:
    domains = one_of_each(database)

    looks = [database.imports.look(domains, a_wish()) for _ in range(2)]

    assert looks == [Answered(fresh=1, active=1)] * 2


@pytest.mark.parametrize("reason", [FetchReason.IMPORT, FetchReason.SCHEDULE])
def test_what_is_asked_for_is_a_fetch_with_a_job_in_bulk(
    database: Rig, reason: FetchReason
) -> None:
    answer = database.imports.ask([NEW, STALE], a_wish(reason))

    jobs = [database.row(job_id) for job_id, _ in answer.jobs]
    assert {job.query.domain for job in jobs} == {NEW, STALE}
    assert {(job.pool, job.state, job.fence) for job in jobs} == {(Pool.BULK, JobState.QUEUED, 0)}
    fetches = [database.fetches.get(job.fetch_id) for job in jobs]
    assert {(one.state, one.reason, one.asked_by) for one in fetches} == {
        (FetchState.ACTIVE, reason, None)
    }


def test_asking_again_finds_its_own_fetches_and_makes_no_more(database: Rig) -> None:
    first = database.imports.ask([NEW, STALE], a_wish())

    again = database.imports.ask([NEW, STALE], a_wish())

    assert (len(first.jobs), again) == (2, Answered(fresh=0, active=2))
    last = max(database.row(job_id).fetch_id for job_id, _ in first.jobs)
    with pytest.raises(NotFound):
        database.fetches.get(last + 1)


def test_more_than_there_is_room_for_waits_without_a_message(database: Rig) -> None:
    domains = [DomainName(f"shop-{number}.example") for number in range(80)]

    answer = database.imports.ask(domains, a_wish())

    assert 0 < len(answer.jobs) < len(domains)
    assert len(database.due.unrung(None, 200)) == len(answer.jobs)


def test_an_import_does_not_stand_before_a_person(database: Rig) -> None:
    domains = [DomainName(f"shop-{number}.example") for number in range(80)]
    database.imports.ask(domains, a_wish())

    asked = database.fetches.request(Request(NEW, FetchReason.PERSON, asked_by=7))

    assert {pool for _, pool in asked.jobs} == {Pool.INTERACTIVE}
