"""The gate of a pool: what a worker knows of pauses, and what it does with a job in hand."""

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.operation import Action, Deed
from ppcfetch.model.outcome import Done, HandBack
from tests.stage import Stage
from workers.gate import Gate

PAUSE = Deed("ann", Action.PAUSE, "archive is being moved")
RESUME = Deed("ann", Action.RESUME)


@pytest.fixture
def stage() -> Stage:
    """A stage with one requested fetch."""
    made = Stage(pages=3)
    made.request()
    return made


def gate(stage: Stage) -> Gate:
    """A gate of the interactive pool."""
    return Gate(stage.database, pool=Pool.INTERACTIVE)


def test_a_gate_is_closed_before_the_first_answer(stage: Stage) -> None:
    stage.database.down = True
    closed = gate(stage)

    closed.look()

    assert closed.closed.is_set()


def test_a_gate_opens_when_nobody_has_paused_its_pool(stage: Stage) -> None:
    stage.database.pause(Pool.BULK, PAUSE)
    opened = gate(stage)

    with capture_logs() as logs:
        opened.look()

    assert not opened.closed.is_set()
    assert logs == []


def test_a_pause_closes_and_a_resume_opens_and_each_is_logged_once(stage: Stage) -> None:
    swinging = gate(stage)
    swinging.look()
    seen = []

    with capture_logs() as logs:
        for change in (stage.database.pause, stage.database.resume):
            change(Pool.INTERACTIVE, PAUSE)
            swinging.look()
            swinging.look()
            seen.append(swinging.closed.is_set())

    assert seen == [True, False]
    assert [entry["event"] for entry in logs] == ["pool.paused", "pool.resumed"]


def test_a_worker_that_starts_during_a_pause_says_so(stage: Stage) -> None:
    stage.database.pause(Pool.INTERACTIVE, PAUSE)
    closed = gate(stage)

    with capture_logs() as logs:
        closed.look()

    assert closed.closed.is_set()
    assert [(entry["event"], entry["by"]) for entry in logs] == [("pool.paused", "ann")]


@pytest.mark.parametrize("paused", [True, False])
def test_without_an_answer_what_was_known_last_still_holds(stage: Stage, *, paused: bool) -> None:
    if paused:
        stage.database.pause(Pool.INTERACTIVE, PAUSE)
    kept = gate(stage)
    kept.look()
    stage.database.down = True

    kept.look()

    assert kept.closed.is_set() is paused


def test_a_job_that_runs_into_a_pause_stores_its_page_and_is_handed_back(stage: Stage) -> None:
    seat = stage.worker()
    (held,) = seat.lease()
    seat.paused.set()

    outcome = seat.finish(held)

    row = stage.database.jobs[1]
    assert outcome == HandBack()
    assert (row.job.state, row.job.pages, row.job.starts) == (JobState.QUEUED, 1, 0)
    assert row.due_at <= stage.database.moment()
    counts = stage.redis.counts(Pool.INTERACTIVE)
    assert (counts.undelivered, counts.in_hand) == (1, 0)


def test_a_job_that_was_handed_back_goes_on_after_the_pause(stage: Stage) -> None:
    seat = stage.worker()
    (held,) = seat.lease()
    seat.paused.set()
    seat.finish(held)
    seat.paused.clear()
    stage.pass_time(timedelta(hours=1))

    outcomes = seat.work()

    assert outcomes == [Done(), Done()]
    assert stage.stored() == stage.archive.creatives()
    assert stage.archive.asked == [None, "1", "2", None]
