"""What becomes of a delivery when its run is over, or never began."""

from datetime import timedelta

from ppcfetch.model.job import JobState
from ppcfetch.model.outcome import Leave, RetryLater
from ppcfetch.usecases.settle import Ended
from tests.stage import Stage


def test_a_delivery_whose_outcome_is_not_in_the_row_is_left() -> None:
    """The row belongs to somebody else by now: its message must go on ringing."""
    stage = Stage(pages=1)
    stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    row = stage.database.jobs[1]
    row.change(fence=row.job.fence + 1)

    outcome = worker.finish(held)

    assert isinstance(outcome, Leave)
    assert stage.messages() == 1


def test_a_job_whose_starts_are_used_up_leaves_a_dead_letter() -> None:
    """The row dies while somebody asks for its lease, and its message becomes the letter."""
    stage = Stage(pages=1)
    stage.request()
    for number in range(stage.limits.max_starts):
        assert stage.worker(host=f"host-{number}").lease()
        stage.pass_time(stage.limits.lease + timedelta(seconds=1))

    held = stage.worker(host="the last").lease()

    assert not held
    assert stage.database.jobs[1].job.state is JobState.DEAD
    assert (len(stage.redis.state.dead), stage.messages()) == (1, 0)


def test_an_outcome_whose_answer_was_lost_is_written_again_and_counts_once() -> None:
    """Else nobody would settle the delivery, though the row says what happens next."""
    stage = Stage(pages=1)
    stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    later = RetryLater(timedelta(minutes=1), "the body was cut")
    stage.database.lose_next_reply = True

    worker.settler.settle([(held, Ended(held.lease, held.delivery, later, row_ended=False))])

    row = stage.database.jobs[1].job
    assert (row.state, row.attempts) == (JobState.QUEUED, 1)
    assert stage.messages() == 0
