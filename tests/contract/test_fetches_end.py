"""Ends of fetches: cancelled, counted, reopened by a retry, and what the domain remembers."""

import pytest

from ppcfetch.errors import LeaseLost, NotFound, Refused
from ppcfetch.model.fetch import FetchReason, FetchState, Freshness
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.outcome import Dead, Done, RetryLater
from ppcfetch.ports import Revived
from tests.contract.database_rig import LEASE, Rig, an_ad


def died(database: Rig, domain: str = "shop.example") -> tuple[int, int]:
    """Give a fetch and its job that died after a retry."""
    asked = database.ask(domain)
    [(job_id, _)] = asked.jobs
    database.jobs.settle([(database.lease(job_id), RetryLater(LEASE, "cut body"))])
    database.passes(LEASE)
    database.jobs.settle([(database.lease(job_id), Dead("wrong shape"))])
    return asked.fetch.id, job_id


def test_cancelling_ends_the_jobs_under_a_new_fence_and_then_the_fetch(database: Rig) -> None:
    asked = database.ask()
    second = database.add_job(asked.fetch.id)
    lease = database.lease(asked.jobs[0][0])

    cancelled = database.fetches.cancel(asked.fetch.id)

    jobs = [database.row(lease.job.id), database.row(second)]
    fetch = database.fetches.get(asked.fetch.id)
    assert cancelled
    assert [job.state for job in jobs] == [JobState.CANCELLED] * 2
    assert [job.fence for job in jobs] == [lease.fence + 1, 1]
    assert (fetch.state, fetch.error) == (FetchState.CANCELLED, None)
    assert fetch.finished_at is not None


def test_the_holder_of_a_cancelled_job_can_write_no_more(database: Rig) -> None:
    asked = database.ask()
    lease = database.lease(asked.jobs[0][0])
    database.fetches.cancel(asked.fetch.id)

    with pytest.raises(LeaseLost):
        database.write(lease, [an_ad(1)])


def test_what_was_read_before_a_cancel_stays(database: Rig) -> None:
    asked = database.ask()
    database.write(database.lease(asked.jobs[0][0]), [an_ad(1), an_ad(2)])

    database.fetches.cancel(asked.fetch.id)

    fetch = database.fetches.get(asked.fetch.id)
    assert (fetch.pages, fetch.found, fetch.new) == (1, 2, 2)


def test_only_an_active_fetch_can_be_cancelled(database: Rig) -> None:
    asked = database.ask()
    database.fetches.cancel(asked.fetch.id)

    assert not database.fetches.cancel(asked.fetch.id)
    assert not database.fetches.cancel(999_999)


def test_jobs_that_ended_before_a_cancel_keep_their_end(database: Rig) -> None:
    asked = database.ask()
    second = database.add_job(asked.fetch.id)
    database.jobs.settle([(database.lease(asked.jobs[0][0]), Done())])

    database.fetches.cancel(asked.fetch.id)

    assert database.row(asked.jobs[0][0]).state is JobState.DONE
    assert database.row(second).state is JobState.CANCELLED
    assert database.fetches.get(asked.fetch.id).state is FetchState.CANCELLED


def test_a_complete_fetch_makes_its_domain_checked(database: Rig) -> None:
    asked = database.ask()
    database.write(database.lease(asked.jobs[0][0]), last=True)

    fetch = database.fetches.get(asked.fetch.id)
    assert fetch.state is FetchState.DONE
    assert database.freshness("shop.example") == Freshness(fetch.finished_at, fetch.finished_at)


def test_a_failed_and_a_cancelled_fetch_are_attempts_only(database: Rig) -> None:
    died(database, "failed.example")
    database.fetches.cancel(database.ask("cancelled.example").fetch.id)

    marks = [database.freshness(f"{how}.example") for how in ("failed", "cancelled")]

    assert [mark.checked_at for mark in marks] == [None, None]
    assert all(mark.attempted_at is not None for mark in marks)


def test_an_attempt_leaves_the_last_check_as_it_was(database: Rig) -> None:
    asked = database.ask()
    database.write(database.lease(asked.jobs[0][0]), last=True)
    checked = database.freshness("shop.example").checked_at

    database.fetches.cancel(database.ask().fetch.id)

    now = database.freshness("shop.example")
    assert now.checked_at == checked
    assert checked is not None
    assert now.attempted_at is not None
    assert now.attempted_at >= checked


def test_unseen_counts_held_ads_that_a_complete_fetch_did_not_see(database: Rig) -> None:
    first = database.ask()
    ads = [an_ad(number) for number in range(5)]
    database.write(database.lease(first.jobs[0][0]), ads, last=True)

    second = database.ask()
    seen_again = [*ads[:2], an_ad(9), ads[0]]
    database.write(database.lease(second.jobs[0][0]), seen_again, last=True)

    assert database.fetches.get(first.fetch.id).unseen == 0
    fetch = database.fetches.get(second.fetch.id)
    assert (fetch.found, fetch.new, fetch.unseen) == (3, 1, 3)


def test_a_retried_job_begins_anew_at_its_checkpoint_and_reopens_its_fetch(database: Rig) -> None:
    fetch_id, job_id = died(database)

    retried = database.fetches.retry(job_id)

    job, fetch = database.row(job_id), database.fetches.get(fetch_id)
    assert retried == Revived(Pool.INTERACTIVE, ((job_id, Pool.INTERACTIVE),))
    assert (job.state, job.starts, job.attempts) == (JobState.QUEUED, 0, 0)
    assert (fetch.state, fetch.finished_at, fetch.error) == (FetchState.ACTIVE, None, None)
    database.write(database.lease(job_id), last=True)
    assert database.fetches.get(fetch_id).state is FetchState.DONE


def test_a_retry_while_the_fetch_is_active_leaves_it_active(database: Rig) -> None:
    asked = database.ask()
    database.add_job(asked.fetch.id)
    [(job_id, _)] = asked.jobs
    database.jobs.settle([(database.lease(job_id), Dead("no use"))])

    database.fetches.retry(job_id)

    assert database.fetches.get(asked.fetch.id).state is FetchState.ACTIVE


def test_a_retry_is_refused_when_a_newer_fetch_is_active(database: Rig) -> None:
    _, job_id = died(database)
    newer = database.ask(reason=FetchReason.SCHEDULE)
    before = database.row(job_id)

    with pytest.raises(Refused, match=f"superseded by fetch {newer.fetch.id}"):
        database.fetches.retry(job_id)

    assert database.row(job_id) == before


def test_a_retry_is_refused_when_a_newer_fetch_has_read_the_domain(database: Rig) -> None:
    """Else both would count as theirs what each of them met behind the other."""
    _, job_id = died(database)
    newer = database.ask(reason=FetchReason.SCHEDULE)
    database.write(database.lease(newer.jobs[0][0], pool=Pool.BULK), last=True)

    with pytest.raises(Refused, match=f"superseded by fetch {newer.fetch.id}"):
        database.fetches.retry(job_id)

    assert database.row(job_id).state is JobState.DEAD


def test_a_newer_fetch_that_read_nothing_supersedes_none(database: Rig) -> None:
    fetch_id, job_id = died(database)
    newer = database.ask(reason=FetchReason.SCHEDULE)
    database.fetches.cancel(newer.fetch.id)

    database.fetches.retry(job_id)

    assert database.fetches.get(fetch_id).state is FetchState.ACTIVE


def test_only_a_dead_job_can_be_retried(database: Rig) -> None:
    job_id = database.queued()

    for one in (job_id, 999_999):
        with pytest.raises(NotFound):
            database.fetches.retry(one)
