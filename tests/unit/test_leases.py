"""Leases through the life of a worker: taken, kept, lost, answered."""

from datetime import timedelta

import pytest

from ppcfetch.errors import DatabaseUnavailable, LeaseLost, NameLost, StreamUnavailable
from ppcfetch.model.fetch import FetchState
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.lease import Token
from ppcfetch.model.outcome import Done, HandBack, Leave
from tests.builders import a_limits
from tests.stage import Stage


def test_beating_keeps_a_lease_for_twenty_lease_lengths() -> None:
    """A long job runs once, on one worker, as long as it makes progress."""
    stage = Stage(pages=80)
    stage.request()
    worker, rescuer = stage.worker(), stage.worker(host="other")
    (held,) = worker.lease()
    run = worker.begin(held)

    for _ in range(79):
        stage.pass_time(stage.limits.renew)
        worker.heartbeat.round(stopping=False)
        next(run)
        assert not rescuer.lease()

    job = stage.database.jobs[1].job
    assert (job.fence, job.state) == (1, JobState.RUNNING)


def test_a_handler_without_progress_loses_its_lease_though_the_heart_beats() -> None:
    """Progress, not time, decides."""
    stage = Stage(limits=a_limits(stall=timedelta(seconds=60)))
    stage.request()
    worker, rescuer = stage.worker(), stage.worker(host="other")
    (held,) = worker.lease()

    for _ in range(9):
        stage.pass_time(stage.limits.renew)
        worker.heartbeat.round(stopping=False)

    with pytest.raises(LeaseLost, match="no progress"):
        held.check()
    assert len(rescuer.lease()) == 1


def test_a_sleeper_that_wakes_up_can_write_nothing() -> None:
    """The fence in the row is older than the successor's."""
    stage = Stage(pages=2)
    stage.request()
    sleeper = stage.worker()
    (held,) = sleeper.lease()
    stage.pass_lease()
    successor = stage.worker(host="other")
    (taken,) = successor.lease()

    outcome = sleeper.consumer.run(held)

    assert isinstance(outcome, Leave)
    assert not stage.database.ads
    assert taken.lease.fence == held.lease.fence + 1


def test_a_sleeper_does_not_steal_its_delivery_back() -> None:
    """Renewal is checked by the token, not by the name."""
    stage = Stage()
    stage.request()
    sleeper = stage.worker()
    (held,) = sleeper.lease()
    stage.pass_lease()
    stage.worker(host="other").lease()

    sleeper.heartbeat.round(stopping=False)

    where = stage.redis.where(1)
    assert where is not None
    assert where.consumer == "other.interactive.1"
    with pytest.raises(LeaseLost, match="leased again or cancelled"):
        held.check()


def test_a_sleeper_settles_nothing() -> None:
    """The successor's claim survives a late settle."""
    stage = Stage(pages=1)
    stage.request()
    sleeper = stage.worker()
    (held,) = sleeper.lease()
    stage.pass_lease()
    successor = stage.worker(host="other")
    (taken,) = successor.lease()

    sleeper.finish(held)

    assert stage.messages() == 1
    assert successor.finish(taken) == Done()
    assert stage.messages() == 0


def test_losing_the_delivery_stops_no_handler() -> None:
    """The row decides; whoever has the delivery will settle it."""
    stage = Stage(pages=1)
    stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    stage.redis.flushall()

    worker.heartbeat.round(stopping=False)
    outcome = worker.finish(held)

    assert outcome == Done()
    assert stage.stored() == stage.archive.creatives()


def test_a_second_ring_for_a_job_in_hand_is_adopted() -> None:
    """After a loss the new message of our own job is the one to settle."""
    stage = Stage(pages=1)
    asked = stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    stage.redis.flushall()
    stage.redis.ensure_groups()
    stage.redis.publish(asked.jobs)

    again = worker.lease()
    outcome = worker.finish(held)

    assert (list(again), outcome) == ([], Done())
    assert stage.messages() == 0


def test_an_unanswered_take_is_asked_again_and_counts_once() -> None:
    """The request id makes the repetition harmless."""
    stage = Stage()
    stage.request()
    worker = stage.worker()
    deliveries = worker.intake.next(1)
    stage.database.lose_next_reply = True

    (held,) = worker.leasing.lease(deliveries)

    assert held.lease.job.starts == 1
    assert held.lease.fence == 1


def test_a_take_without_any_answer_is_given_up_and_found_again() -> None:
    """The delivery stays pending under our name; a lease later it is reconciled."""
    stage = Stage(pages=1)
    stage.request()
    worker = stage.worker()
    deliveries = worker.intake.next(1)
    stage.database.down = True
    with pytest.raises(DatabaseUnavailable):
        worker.leasing.lease(deliveries)
    stage.database.down = False
    stage.pass_lease()

    outcomes = worker.work()

    assert outcomes == [Done()]


def test_being_stopped_costs_a_job_nothing() -> None:
    """The start is given back, the page in hand finished, and the message goes round again."""
    stage = Stage(pages=3)
    stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    worker.stopping.set()
    worker.heartbeat.round(stopping=True)

    outcome = worker.finish(held)
    next_one = stage.worker(host="other").work()

    assert (outcome, next_one) == (HandBack(), [Done(), Done()])
    assert stage.archive.asked == [None, "1", "2", None]
    assert stage.database.jobs[1].job.starts == 0


def test_a_kill_at_the_end_of_the_grace_time_costs_no_start() -> None:
    """The starts are given back before anything else."""
    stage = Stage()
    stage.request()

    for number in range(7):
        stage.pass_lease()
        worker = stage.worker(host=f"host-{number}")
        (held,) = worker.lease()
        worker.stopping.set()
        worker.heartbeat.round(stopping=True)
        assert held.lease.job.starts == 1

    assert stage.database.jobs[1].job.state is JobState.RUNNING


def test_a_poison_job_is_dead_after_its_starts_and_holds_nobody_up() -> None:
    """Each worker dies of it; the take after the last start makes the row dead."""
    stage = Stage(limits=a_limits(max_starts=3))
    asked = stage.request()
    for number in range(3):
        assert len(stage.worker(host=f"victim-{number}").lease()) == 1
        stage.pass_lease()

    last = stage.worker(host="last")
    held = last.lease()

    assert not held
    assert stage.database.jobs[1].job.state is JobState.DEAD
    assert stage.database.get(asked.fetch.id).state is FetchState.FAILED
    assert len(stage.redis.state.dead) == 1


def test_a_restarted_worker_walks_its_own_history_first() -> None:
    """A deploy does not have to wait for a lease to lapse."""
    stage = Stage(pages=1)
    stage.request()
    before = stage.worker()
    before.lease()
    stage.redis.expire_name("host.interactive.1")

    after = stage.worker()
    outcomes = after.work()

    assert after.ports.holder.consumer == before.ports.holder.consumer
    assert outcomes == [Done()]


def test_a_process_whose_name_is_borne_by_another_leaves() -> None:
    """Two processes never hold the same name at the same time."""
    stage = Stage()
    stage.request()
    sleeper = stage.worker()
    stage.redis.expire_name("host.interactive.1")
    successor = stage.worker()

    with pytest.raises(NameLost):
        sleeper.heartbeat.round(stopping=False)
    with pytest.raises(NameLost):
        sleeper.intake.next(1)
    assert len(successor.lease()) == 1


def test_an_unknown_answer_to_a_beat_is_not_a_loss() -> None:
    """The handler goes on until its local deadline."""
    stage = Stage()
    stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    stage.database.down = True

    stage.pass_time(timedelta(seconds=39))
    worker.heartbeat.round(stopping=False)
    held.check()
    stage.pass_time(timedelta(seconds=2))

    with pytest.raises(LeaseLost, match="no beat"):
        held.check()


def test_redis_being_away_does_not_keep_rows_from_beating() -> None:
    """The database is told first."""
    stage = Stage()
    stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    stage.redis.down = True

    for _ in range(8):
        stage.pass_time(stage.limits.renew)
        worker.heartbeat.round(stopping=False)

    held.check()
    with pytest.raises(StreamUnavailable):
        worker.intake.next(1)


def test_a_handler_that_ignores_being_told_is_noticed_a_lease_later() -> None:
    """Then the process must end; nothing else can stop its thread."""
    stage = Stage()
    stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    stage.database.cancel(1)
    worker.heartbeat.round(stopping=False)

    early = worker.heartbeat.stuck()
    stage.pass_lease()
    late = worker.heartbeat.stuck()

    assert (list(early), list(late)) == ([], [held])


def test_a_job_of_another_pool_is_moved_there() -> None:
    """The row names the pool; a message that rings at the wrong door goes to the right one."""
    stage = Stage(pages=1)
    stage.request()
    stage.database.jobs[1].change(pool=Pool.BULK)

    wrong = stage.worker().work()
    right = stage.worker(Pool.BULK).work()

    assert (wrong, right) == ([], [Done()])


def test_messages_that_cannot_be_read_become_dead_letters_with_their_bytes() -> None:
    """Nothing is thrown away, and nothing is tried for ever."""
    stage = Stage()
    stream = stage.redis.state.streams[Pool.INTERACTIVE]
    stage.redis.add(stream, b"{not json")

    stage.worker().work()

    ((delivery, reason),) = stage.redis.state.dead
    assert (delivery.raw, reason) == (b"{not json", "the message cannot be read")


def test_a_message_of_an_unknown_version_waits_for_a_newer_worker() -> None:
    """During a deploy both versions run; only when nobody ever knows it, it is given up."""
    stage = Stage()
    stream = stage.redis.state.streams[Pool.INTERACTIVE]
    stage.redis.add(stream, b'{"v":2,"job":1}')
    worker = stage.worker()

    looks = 0
    while not stage.redis.state.dead:
        worker.work()
        stage.pass_lease()
        looks += 1

    assert looks > 20


def test_tokens_tell_a_sleeper_from_its_successor_of_the_same_name() -> None:
    """The delivery counter rises with each claim of the history."""
    stage = Stage()
    stage.request()
    before = stage.worker()
    (old,) = before.lease()
    stage.redis.expire_name("host.interactive.1")
    (new,) = stage.worker().lease()

    assert old.delivery.token.consumer == new.delivery.token.consumer
    assert old.delivery.token != new.delivery.token
    assert isinstance(new.delivery.token, Token)
