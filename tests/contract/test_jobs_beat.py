"""Beats, vetoes and starts given back: each only under the fence of the lease."""

from ppcfetch.model.lease import Lease, Refused
from ppcfetch.model.outcome import Dead, HandBack, RetryLater
from tests.contract.database_rig import ANNA, BERT, LEASE, MOMENT, Rig


def stale_and_new(database: Rig) -> tuple[Lease, Lease]:
    """Give the lease of one who slept too long, and that of his successor."""
    job_id = database.queued()
    stale = database.lease(job_id, ANNA)
    database.passes(LEASE)
    return stale, database.lease(job_id, BERT)


def test_a_beat_tells_which_leases_are_still_held(database: Rig) -> None:
    stale, new = stale_and_new(database)
    other = database.lease(database.queued("other.example"))

    assert database.jobs.beat([stale, other]) == {other.job.id}
    assert database.jobs.beat([new]) == {new.job.id}
    assert database.jobs.beat([]) == frozenset()


def test_the_beat_of_a_stale_lease_does_not_keep_the_job(database: Rig) -> None:
    stale, new = stale_and_new(database)
    database.passes(LEASE)

    database.jobs.beat([stale])

    assert database.jobs.vetoed([new.job.id]) == frozenset()


def test_a_settled_job_cannot_be_beaten(database: Rig) -> None:
    lease = database.lease(database.queued())
    database.jobs.settle([(lease, HandBack())])

    assert database.jobs.beat([lease]) == frozenset()


def test_a_cancelled_job_cannot_be_beaten(database: Rig) -> None:
    asked = database.ask()
    lease = database.lease(asked.jobs[0][0])
    database.fetches.cancel(asked.fetch.id)

    assert database.jobs.beat([lease]) == frozenset()


def test_running_and_beaten_within_a_lease_is_vetoed_and_nothing_else(database: Rig) -> None:
    silent = database.lease(database.queued("silent.example"))
    database.passes(LEASE)
    beaten = database.lease(database.queued("beaten.example"))
    queued = database.queued("queued.example")
    ended = database.lease(database.queued("ended.example"))
    database.jobs.settle([(ended, Dead("no use"))])

    asked = [silent.job.id, beaten.job.id, queued, ended.job.id, 999_999]

    assert database.jobs.vetoed(asked) == {beaten.job.id}
    assert database.jobs.vetoed([]) == frozenset()


def test_a_stored_page_counts_as_a_beat(database: Rig) -> None:
    lease = database.lease(database.queued())
    database.passes(LEASE - MOMENT)
    database.write(lease)
    database.passes(LEASE - MOMENT)

    assert database.jobs.vetoed([lease.job.id]) == {lease.job.id}


def test_a_start_is_given_back_once_however_often_it_is_asked(database: Rig) -> None:
    job_id = database.queued()
    database.lease(job_id, BERT)
    database.passes(LEASE)
    lease = database.lease(job_id)

    database.jobs.give_back_starts([lease])
    database.jobs.give_back_starts([lease])

    assert database.row(job_id).starts == 1


def test_a_start_given_back_at_sigterm_is_not_given_back_again_by_the_outcome(
    database: Rig,
) -> None:
    job_id = database.queued()
    database.lease(job_id, BERT)
    database.passes(LEASE)
    lease = database.lease(job_id)
    database.jobs.give_back_starts([lease])

    database.jobs.settle([(lease, HandBack())])

    assert database.row(job_id).starts == 1


def test_each_lease_may_give_back_a_start_of_its_own(database: Rig) -> None:
    job_id = database.queued()
    first = database.lease(job_id)
    database.jobs.give_back_starts([first])
    database.jobs.settle([(first, HandBack())])

    database.jobs.give_back_starts([database.lease(job_id)])

    assert database.row(job_id).starts == 0


def test_a_start_given_back_before_the_end_costs_nothing_when_the_process_is_killed(
    database: Rig,
) -> None:
    job_id = database.queued()
    for _ in range(10):
        database.jobs.give_back_starts([database.lease(job_id, BERT)])
        database.passes(LEASE)

    assert not isinstance(database.take(job_id), Refused)


def test_starts_never_go_below_zero_when_a_page_was_stored_in_between(database: Rig) -> None:
    lease = database.lease(database.queued())
    database.write(lease)

    database.jobs.settle([(lease, RetryLater(LEASE, "later"))])

    assert database.row(lease.job.id).starts == 0


def test_a_start_that_a_stored_page_has_forgotten_is_not_given_back(database: Rig) -> None:
    lease = database.lease(database.queued())
    database.write(lease)

    database.jobs.give_back_starts([lease])

    assert database.row(lease.job.id).starts == 0


def test_a_stale_lease_gives_nothing_back(database: Rig) -> None:
    stale, new = stale_and_new(database)

    database.jobs.give_back_starts([stale])

    assert database.row(new.job.id).starts == 2
