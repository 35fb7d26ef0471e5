"""Outcomes in job rows: what each changes, only under its fence, once however often it is told."""

from datetime import timedelta

import pytest

from ppcfetch.model.fetch import FetchState
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.lease import Lease, Refused
from ppcfetch.model.outcome import (
    Dead,
    Done,
    HandBack,
    Leave,
    Outcome,
    Rest,
    RetryLater,
    Spill,
)
from tests.contract.database_rig import ANNA, BERT, LEASE, MOMENT, Rig

LATER = timedelta(seconds=300)

QUEUED_AGAIN: list[Outcome] = [
    RetryLater(LATER, "cut body"),
    Rest(LATER, "429"),
    HandBack(),
    Spill(),
]
ALL: list[Outcome] = [*QUEUED_AGAIN, Dead("wrong shape"), Done()]


def abandoned_once(database: Rig) -> int:
    """Give a job that one holder left without a word, so that its starts are 1."""
    job_id = database.queued()
    database.lease(job_id, BERT)
    database.passes(LEASE)
    return job_id


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (RetryLater(LATER, "cut body"), (JobState.QUEUED, Pool.INTERACTIVE, 1, "cut body")),
        (Rest(LATER, "429"), (JobState.QUEUED, Pool.INTERACTIVE, 0, "429")),
        (HandBack(), (JobState.QUEUED, Pool.INTERACTIVE, 0, None)),
        (Spill(), (JobState.QUEUED, Pool.BULK, 0, None)),
        (Dead("wrong shape"), (JobState.DEAD, Pool.INTERACTIVE, 0, "wrong shape")),
        (Done(), (JobState.DONE, Pool.INTERACTIVE, 0, None)),
    ],
)
def test_each_outcome_says_what_happens_next(
    database: Rig, outcome: Outcome, expected: tuple[JobState, Pool, int, str | None]
) -> None:
    lease = database.lease(database.queued())

    settled = database.jobs.settle([(lease, outcome)])

    job = database.row(lease.job.id)
    assert settled == {job.id}
    assert (job.state, job.pool, job.attempts, job.error) == expected
    assert job.fence == lease.fence


@pytest.mark.parametrize("outcome", QUEUED_AGAIN)
def test_a_reported_end_gives_its_start_back_and_no_other(database: Rig, outcome: Outcome) -> None:
    job_id = abandoned_once(database)
    lease = database.lease(job_id)

    database.jobs.settle([(lease, outcome)])

    assert (lease.job.starts, database.row(job_id).starts) == (2, 1)


@pytest.mark.parametrize("outcome", [RetryLater(LATER, "cut body"), Rest(LATER, "429")])
def test_a_delayed_job_is_due_when_the_delay_is_over(database: Rig, outcome: Outcome) -> None:
    lease = database.lease(database.queued())
    database.jobs.settle([(lease, outcome)])

    database.passes(LATER - MOMENT)
    early = database.take(lease.job.id)
    database.passes(MOMENT)

    assert isinstance(early, Refused)
    assert database.lease(lease.job.id).fence == lease.fence + 1


def test_a_stored_page_makes_attempts_begin_anew(database: Rig) -> None:
    job_id = database.queued()
    database.jobs.settle([(database.lease(job_id), RetryLater(LATER, "cut body"))])
    database.passes(LATER)
    lease = database.lease(job_id)

    database.write(lease)

    assert (lease.job.attempts, database.row(job_id).attempts) == (1, 0)


def test_a_spilled_job_is_due_at_once_in_bulk(database: Rig) -> None:
    lease = database.lease(database.queued())

    database.jobs.settle([(lease, Spill())])

    assert database.lease(lease.job.id, BERT, pool=Pool.BULK).fence == 2


@pytest.mark.parametrize("outcome", ALL)
def test_an_outcome_told_twice_is_written_once_and_answered_twice(
    database: Rig, outcome: Outcome
) -> None:
    lease = database.lease(abandoned_once(database))
    first = database.jobs.settle([(lease, outcome)])
    written = database.row(lease.job.id)

    again = database.jobs.settle([(lease, outcome)])

    assert again == first == {lease.job.id}
    assert database.row(lease.job.id) == written


@pytest.mark.parametrize("outcome", ALL)
def test_an_outcome_under_an_old_fence_changes_nothing(database: Rig, outcome: Outcome) -> None:
    job_id = database.queued()
    stale = database.lease(job_id, ANNA)
    database.passes(LEASE)
    database.lease(job_id, BERT)
    before = database.row(job_id)

    settled = database.jobs.settle([(stale, outcome)])

    assert settled == frozenset()
    assert database.row(job_id) == before


@pytest.mark.parametrize("outcome", ALL)
def test_an_outcome_of_a_cancelled_job_changes_nothing(database: Rig, outcome: Outcome) -> None:
    asked = database.ask()
    lease = database.lease(asked.jobs[0][0])
    database.fetches.cancel(asked.fetch.id)

    settled = database.jobs.settle([(lease, outcome)])

    assert settled == frozenset()
    assert database.row(lease.job.id).state is JobState.CANCELLED


def test_outcomes_that_fall_together_are_written_together(database: Rig) -> None:
    leases = [database.lease(database.queued(f"shop-{number}.example")) for number in range(6)]
    told = list(reversed(list(zip(leases, ALL, strict=True))))

    settled = database.jobs.settle(told)

    assert settled == {lease.job.id for lease in leases}
    states = [database.row(lease.job.id).state for lease in leases]
    assert states == [*[JobState.QUEUED] * 4, JobState.DEAD, JobState.DONE]


def test_done_is_ours_when_the_last_page_has_ended_the_row_already(database: Rig) -> None:
    lease = database.lease(database.queued())
    database.write(lease, last=True)

    assert database.jobs.settle([(lease, Done())]) == {lease.job.id}


def test_nothing_told_is_nothing_settled(database: Rig) -> None:
    assert database.jobs.settle([]) == frozenset()


def test_a_lease_that_is_left_must_not_be_settled(database: Rig) -> None:
    lease = database.lease(database.queued())

    with pytest.raises(ValueError, match="no outcome to write"):
        database.jobs.settle([(lease, Leave("lost"))])

    assert database.row(lease.job.id).state is JobState.RUNNING


@pytest.mark.parametrize(
    ("outcome", "state", "error"),
    [(Dead("wrong shape"), FetchState.FAILED, "wrong shape"), (Done(), FetchState.DONE, None)],
)
def test_the_end_of_the_last_job_ends_the_fetch(
    database: Rig, outcome: Outcome, state: FetchState, error: str | None
) -> None:
    asked = database.ask()
    lease = database.lease(asked.jobs[0][0])

    database.jobs.settle([(lease, outcome)])

    fetch = database.fetches.get(asked.fetch.id)
    assert (fetch.state, fetch.error) == (state, error)
    assert fetch.finished_at is not None


def test_the_end_of_one_of_two_jobs_leaves_the_fetch_active(database: Rig) -> None:
    asked = database.ask()
    database.add_job(asked.fetch.id)
    lease = database.lease(asked.jobs[0][0])

    database.jobs.settle([(lease, Done())])

    assert database.fetches.get(asked.fetch.id).state is FetchState.ACTIVE


def test_a_fetch_with_a_done_and_a_dead_job_is_partial_and_says_why(database: Rig) -> None:
    asked = database.ask()
    second = database.add_job(asked.fetch.id)
    told: list[tuple[Lease, Outcome]] = [
        (database.lease(asked.jobs[0][0]), Done()),
        (database.lease(second), Dead("gave up")),
    ]

    database.jobs.settle(told)

    fetch = database.fetches.get(asked.fetch.id)
    assert (fetch.state, fetch.error, fetch.unseen) == (FetchState.PARTIAL, "gave up", None)
