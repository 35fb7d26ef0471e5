"""Leases when something fails beside them: no slot, start or lease may be lost by it."""

from ppcfetch.model.job import Pool
from ppcfetch.model.outcome import Done
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
