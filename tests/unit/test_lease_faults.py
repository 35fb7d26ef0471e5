"""Leases when something fails beside them: no slot, start or lease may be lost by it."""

from datetime import timedelta

import pytest

from ppcfetch.errors import LeaseLost
from ppcfetch.model.fetch import FetchReason
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.outcome import Done, HandBack
from tests.builders import a_limits
from tests.stage import Stage

UNKNOWN_JOB = 999


def test_a_lease_runs_though_redis_refuses_to_answer_what_came_with_it() -> None:
    """Otherwise it would be beaten for ever with no handler behind it."""
    stage = Stage(pages=1)
    stage.request()
    stage.redis.publish([(UNKNOWN_JOB, Pool.INTERACTIVE)])
    worker = stage.worker()
    deliveries = worker.intake.next(2)
    stage.redis.full = True

    (held,) = worker.leasing.lease(deliveries)
    outcome = worker.finish(held)

    assert (len(deliveries), outcome) == (2, Done())
    assert not worker.hand.all()


def test_a_stuck_handler_is_noticed_though_its_job_was_leased_again_here() -> None:
    """The newer lease does not hide the slot that hangs, nor is the older one beaten with it."""
    stage = Stage()
    stage.request()
    worker = stage.worker()
    (stuck,) = worker.lease()
    stage.pass_lease()
    other = stage.worker(host="other")
    (between,) = other.lease()
    other.stopping.set()
    handed_back = other.finish(between)

    (newer,) = worker.lease()
    worker.heartbeat.round(stopping=False)
    with pytest.raises(LeaseLost, match="leased again"):
        stuck.check()
    stage.pass_lease()

    assert handed_back == HandBack()
    assert list(worker.heartbeat.stuck()) == [stuck]
    worker.hand.drop(stuck)
    assert list(worker.hand.all()) == [newer]


def test_a_handler_that_hangs_in_every_process_uses_its_starts_up() -> None:
    """A process that leaves since a handler hangs keeps the start of that one."""
    limits = a_limits(max_starts=3, stall=timedelta(seconds=60))
    stage = Stage(limits=limits)
    stage.request()

    for number in range(4):
        worker = stage.worker(host=f"host-{number}")
        worker.lease()
        stage.pass_time(limits.stall * 1.01)
        worker.heartbeat.round(stopping=False)
        worker.heartbeat.round(stopping=True)

    assert stage.database.jobs[1].job.state is JobState.DEAD


def test_a_job_that_makes_a_thread_die_in_every_process_uses_its_starts_up() -> None:
    """A process that ends by a fault of its own gives nothing back."""
    stage = Stage(limits=a_limits(max_starts=3))
    stage.request()

    for number in range(4):
        worker = stage.worker(host=f"host-{number}")
        worker.lease()
        worker.heartbeat.keep_starts()
        worker.heartbeat.round(stopping=True)
        stage.pass_lease()

    assert stage.database.jobs[1].job.state is JobState.DEAD


def test_a_person_who_joins_an_import_does_not_wait_behind_bulk() -> None:
    """The row is promoted, and its message leaves the long line as well."""
    stage = Stage(pages=1)
    stage.request(FetchReason.IMPORT)

    asked = stage.request(FetchReason.PERSON)
    outcomes = stage.worker().work()

    assert asked.joined
    assert outcomes == [Done()]
    assert stage.messages() == 0
