"""What becomes of a delivery when its run is over, or never began."""

from datetime import timedelta

from ppcfetch.model.job import JobState
from ppcfetch.model.outcome import Leave
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
