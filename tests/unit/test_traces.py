"""Shortest ways to break a protocol with one clause less, walked here with all clauses in place.

Each was found by a model checker. Single steps that other tests hold are not repeated; which
test holds which clause is told in `tests/simulation/clauses.py`.
"""

import pytest

from ppcfetch.errors import ArchiveUnavailable, LeaseLost
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.outcome import Done, Leave
from ppcfetch.usecases.sweep import rebuild_after_loss
from tests.builders import a_limits
from tests.stage import Stage


def test_two_processes_do_not_rob_each_other_round_and_round() -> None:
    """A sleeper and its rescuer, each of which finds the other's delivery idle."""
    stage = Stage(pages=2, limits=a_limits(max_starts=3))
    stage.request()
    sleeper, rescuer = stage.worker(), stage.worker(host="other")
    read = sleeper.intake.next(1)
    stage.pass_lease()
    (held,) = rescuer.lease()

    for _ in range(6):
        assert not sleeper.leasing.lease(read)
        assert not sleeper.lease()
        stage.pass_time(stage.limits.renew)
        rescuer.heartbeat.round(stopping=False)

    assert rescuer.finish(held) == Done()
    assert stage.database.jobs[1].job.fence == 1


def test_losing_the_stream_again_and_again_costs_no_start() -> None:
    """The row, not the stream, says whether a lease is lost."""
    stage = Stage(pages=9, limits=a_limits(max_starts=2))
    stage.request()
    worker, other = stage.worker(), stage.worker(host="other")
    (held,) = worker.lease()
    run = worker.begin(held)

    for _ in range(5):
        stage.pass_time(stage.limits.renew)
        stage.redis.flushall()
        worker.heartbeat.round(stopping=False)
        rebuild_after_loss(due=stage.database, doorbell=stage.redis, census=stage.redis)
        stage.redis.publish([(1, Pool.INTERACTIVE)])
        assert not other.lease()
        next(run)

    assert stage.database.jobs[1].job.fence == 1


def test_a_cancelled_job_stores_nothing_more() -> None:
    """Its holder has a page in hand when somebody cancels."""
    stage = Stage(pages=2)
    asked = stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    stage.database.cancel(asked.fetch.id)

    outcome = worker.finish(held)

    assert isinstance(outcome, Leave)
    assert not stage.database.ads


def test_a_sleeper_does_not_settle_for_its_successor_of_the_same_name() -> None:
    """Both bear one name; the delivery counter tells them apart."""
    stage = Stage(pages=1)
    stage.request()
    sleeper = stage.worker()
    (old,) = sleeper.lease()
    stage.redis.expire_name("host.interactive.1")
    stage.pass_lease()
    successor = stage.worker()
    (new,) = successor.lease()

    sleeper.ports.settling.settle([old.delivery])
    sleeper.ports.settling.move([old.delivery], Pool.BULK)
    sleeper.ports.settling.renew([old.delivery.token])

    where = stage.redis.where(1)
    assert where is not None
    assert (where.pool, where.deliveries) == (Pool.INTERACTIVE, new.delivery.token.deliveries)
    assert successor.finish(new) == Done()
    assert stage.messages() == 0


def test_a_reconciled_delivery_bears_a_new_token() -> None:
    """Else two processes of one name could each settle what the other holds."""
    stage = Stage()
    stage.request()
    worker = stage.worker()
    (lost,) = worker.intake.next(1)
    stage.pass_lease()

    (found,) = worker.intake.next(1)

    assert found.token.message_id == lost.token.message_id
    assert found.token.deliveries == lost.token.deliveries + 1


def test_errors_are_given_up_by_attempts_and_not_by_starts() -> None:
    """Whoever reports an end gives its start back."""
    stage = Stage(pages=1, limits=a_limits(max_starts=2, max_attempts=6))
    stage.request()
    worker = stage.worker()
    stage.archive.answers = [ArchiveUnavailable("503")] * 5

    for _ in range(6):
        worker.work()
        stage.pass_lease()
        stage.sweep(worker)

    job = stage.database.jobs[1].job
    assert (job.state, stage.stored()) == (JobState.DONE, stage.archive.creatives())


def test_a_message_in_nobodys_hand_is_replaced() -> None:
    """Its consumer was deleted by hand while it held the only message of the job."""
    stage = Stage(pages=1)
    stage.request()
    dying = stage.worker()
    dying.intake.next(1)
    stage.redis.delete_consumer(Pool.INTERACTIVE, dying.ports.holder.consumer)
    sweeping = stage.worker(host="other")

    stage.sweep(sweeping)
    outcomes = sweeping.work()

    assert outcomes == [Done()]
    assert stage.messages() == 0


def test_a_handler_that_is_told_hears_it_at_its_next_step() -> None:
    """The beat finds the row under a later fence."""
    stage = Stage(pages=3)
    stage.request()
    sleeper = stage.worker()
    (held,) = sleeper.lease()
    run = sleeper.begin(held)
    next(run)
    stage.pass_lease()
    stage.worker(host="other").lease()
    sleeper.heartbeat.round(stopping=False)

    with pytest.raises(LeaseLost, match="leased again"):
        next(run)
