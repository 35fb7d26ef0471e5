"""Taking leases: who gets one, who does not and why, and what asking again costs."""

import pytest

from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.lease import Holder, Lease, Refusal, Refused
from ppcfetch.model.outcome import Dead, Done, RetryLater
from ppcfetch.ports import Taking
from tests.contract.database_rig import ANNA, BERT, LEASE, MOMENT, Rig
from tests.fakes_tables import LIMITS


def test_incarnations_only_grow(database: Rig) -> None:
    numbers = [database.jobs.next_incarnation() for _ in range(5)]

    assert numbers == sorted(set(numbers))


def test_a_lease_raises_the_fence_and_counts_a_start(database: Rig) -> None:
    job_id = database.queued()

    lease = database.lease(job_id)

    assert (lease.fence, lease.job.fence, lease.job.starts) == (1, 1, 1)
    assert lease.job.state is JobState.RUNNING
    assert lease.holder == ANNA
    assert database.row(job_id) == lease.job


def test_the_first_lease_starts_the_fetch_and_a_later_one_does_not_move_it(database: Rig) -> None:
    asked = database.ask()
    [(job_id, _)] = asked.jobs

    database.lease(job_id)
    started = database.fetches.get(asked.fetch.id).started_at
    database.passes(LEASE)
    database.lease(job_id, BERT)

    assert asked.fetch.started_at is None
    assert started is not None
    again = database.fetches.get(asked.fetch.id).started_at
    assert again is not None
    assert again <= started


def test_all_deliveries_of_one_read_are_answered_by_one_call(database: Rig) -> None:
    held = database.queued("held.example")
    database.lease(held, BERT)
    free = [database.queued(f"free-{number}.example") for number in range(3)]
    takings = [Taking(job_id, f"r{job_id}") for job_id in [*reversed(free), held, 999_999]]

    answers = database.jobs.take(takings, holder=ANNA, pool=Pool.INTERACTIVE)

    assert set(answers) == {*free, held, 999_999}
    assert all(isinstance(answers[job_id], Lease) for job_id in free)
    assert answers[held] == Refused(held, Refusal.HELD, Pool.INTERACTIVE)
    assert answers[999_999] == Refused(999_999, Refusal.UNKNOWN)


def test_two_deliveries_of_one_job_in_one_read_get_one_lease(database: Rig) -> None:
    job_id = database.queued()

    answers = database.jobs.take(
        [Taking(job_id, "first"), Taking(job_id, "second")], holder=ANNA, pool=Pool.INTERACTIVE
    )

    assert isinstance(answers[job_id], Lease)
    assert database.row(job_id).starts == 1


def test_nothing_asked_is_nothing_answered(database: Rig) -> None:
    assert database.jobs.take([], holder=ANNA, pool=Pool.BULK) == {}


def test_a_job_that_somebody_works_on_is_held_elsewhere(database: Rig) -> None:
    job_id = database.queued()
    database.lease(job_id)
    database.passes(LEASE - MOMENT)

    answer = database.take(job_id, BERT)

    assert answer == Refused(job_id, Refusal.HELD, Pool.INTERACTIVE)


def test_a_running_job_without_a_beat_for_a_lease_is_free(database: Rig) -> None:
    job_id = database.queued()
    database.lease(job_id)
    database.passes(LEASE)

    lease = database.lease(job_id, BERT)

    assert (lease.fence, lease.job.starts, lease.holder) == (2, 2, BERT)


def test_a_beat_keeps_the_job_for_another_lease(database: Rig) -> None:
    job_id = database.queued()
    lease = database.lease(job_id)
    database.passes(LEASE - MOMENT)
    database.jobs.beat([lease])
    database.passes(LEASE - MOMENT)

    answer = database.take(job_id, BERT)

    assert isinstance(answer, Refused)


def test_a_later_incarnation_of_the_name_takes_over_at_once(database: Rig) -> None:
    job_id = database.queued()
    database.lease(job_id, Holder("host.interactive.1", 7))

    lease = database.lease(job_id, Holder("host.interactive.1", 8))

    assert lease.fence == 2


@pytest.mark.parametrize("incarnation", [6, 7])
def test_the_same_and_an_older_incarnation_of_the_name_do_not(
    database: Rig, incarnation: int
) -> None:
    job_id = database.queued()
    database.lease(job_id, Holder("host.interactive.1", 7))

    answer = database.take(job_id, Holder("host.interactive.1", incarnation))

    assert answer == Refused(job_id, Refusal.HELD, Pool.INTERACTIVE)


@pytest.mark.parametrize("running", [False, True])
def test_a_job_of_another_pool_is_refused_with_the_pool_that_it_is_in(
    database: Rig, *, running: bool
) -> None:
    asked = database.ask(reason=FetchReason.SCHEDULE)
    [(job_id, _)] = asked.jobs
    if running:
        database.lease(job_id, BERT, pool=Pool.BULK)
        database.passes(LEASE)

    answer = database.take(job_id, pool=Pool.INTERACTIVE)

    assert answer == Refused(job_id, Refusal.OTHER_POOL, Pool.BULK)


def test_a_job_that_is_not_due_waits(database: Rig) -> None:
    job_id = database.queued()
    database.jobs.settle([(database.lease(job_id), RetryLater(LEASE, "later"))])

    early = database.take(job_id)
    database.passes(LEASE)

    assert early == Refused(job_id, Refusal.NOT_DUE, Pool.INTERACTIVE)
    assert database.lease(job_id).fence == 2


def test_a_job_whose_time_lies_ahead_since_the_clock_was_set_back_waits(database: Rig) -> None:
    """It was let in already, so that only its time speaks against it."""
    job_id = database.queued()
    database.passes(-LEASE)

    early = database.take(job_id)
    database.passes(LEASE)

    assert early == Refused(job_id, Refusal.NOT_DUE, Pool.INTERACTIVE)
    assert database.lease(job_id).fence == 1


@pytest.mark.parametrize("end", [Done(), Dead("no use"), None])
def test_an_ended_job_is_settled(database: Rig, end: Done | Dead | None) -> None:
    asked = database.ask()
    [(job_id, _)] = asked.jobs
    if end is None:
        database.fetches.cancel(asked.fetch.id)
    else:
        database.jobs.settle([(database.lease(job_id), end)])

    answer = database.take(job_id, BERT)

    assert answer == Refused(job_id, Refusal.SETTLED, Pool.INTERACTIVE)


def test_asking_again_with_the_same_request_gives_the_same_lease_and_counts_nothing(
    database: Rig,
) -> None:
    job_id = database.queued()
    lease = database.lease(job_id, request="the one")

    again = database.lease(job_id, request="the one")

    assert again == lease
    assert database.row(job_id).starts == 1


def test_the_same_request_of_another_process_is_another_request(database: Rig) -> None:
    job_id = database.queued()
    database.lease(job_id, ANNA, request="the one")

    answer = database.take(job_id, BERT, request="the one")

    assert answer == Refused(job_id, Refusal.HELD, Pool.INTERACTIVE)


def abandon(database: Rig, job_id: int) -> None:
    """Lease the job as often as it may be, without ever reporting anything."""
    for _ in range(LIMITS.max_starts):
        database.lease(job_id, BERT)
        database.passes(LEASE)


def test_a_job_whose_starts_are_used_up_dies_in_the_taking(database: Rig) -> None:
    asked = database.ask()
    [(job_id, _)] = asked.jobs
    abandon(database, job_id)

    answer = database.take(job_id)

    job, fetch = database.row(job_id), database.fetches.get(asked.fetch.id)
    assert answer == Refused(job_id, Refusal.EXHAUSTED, Pool.INTERACTIVE)
    assert (job.state, job.starts) == (JobState.DEAD, LIMITS.max_starts)
    assert job.fence == LIMITS.max_starts + 1
    assert job.error == "started 3 times without storing a page"
    assert (fetch.state, fetch.error) == (FetchState.FAILED, job.error)


def test_asking_again_for_a_death_whose_answer_was_lost_gives_the_same_answer(
    database: Rig,
) -> None:
    job_id = database.queued()
    abandon(database, job_id)
    first = database.take(job_id, request="the last")

    again = database.take(job_id, request="the last")

    assert again == first == Refused(job_id, Refusal.EXHAUSTED, Pool.INTERACTIVE)
    assert database.row(job_id).fence == LIMITS.max_starts + 1


def test_the_holder_of_a_job_that_died_by_starts_can_write_no_more(database: Rig) -> None:
    job_id = database.queued()
    abandon(database, job_id)
    stale = Lease(database.row(job_id), LIMITS.max_starts, BERT)
    database.take(job_id)

    settled = database.jobs.settle([(stale, Done())])

    assert settled == frozenset()
    assert database.row(job_id).state is JobState.DEAD


def test_progress_makes_starts_begin_anew(database: Rig) -> None:
    job_id = database.queued()
    abandon(database, job_id)
    lease = Lease(database.row(job_id), LIMITS.max_starts, BERT)
    database.write(lease)
    database.passes(LEASE)

    again = database.lease(job_id)

    assert (again.job.starts, again.job.pages) == (1, 1)
