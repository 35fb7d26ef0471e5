"""Retrying and discarding dead jobs: rows first, letters next, the doorbell last."""

import pytest

from ppcfetch.errors import ArchiveRejected
from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.operation import Action, Deed
from ppcfetch.model.outcome import Done
from ppcfetch.ports import Request
from ppcfetch.usecases.discard_dead import Discarded, discard_dead
from ppcfetch.usecases.retry_dead import Retried, retry_dead
from tests.builders import BLUEBIRD
from tests.stage import Stage

RETRY = Deed("ann", Action.RETRY)
DISCARD = Deed("ann", Action.DISCARD, "nobody wants it")


@pytest.fixture
def stage() -> Stage:
    """A stage whose job 1 has died."""
    made = Stage(pages=2)
    made.archive.answers = [ArchiveRejected("our request is wrong")]
    made.request()
    made.worker().work()
    assert made.database.jobs[1].job.state is JobState.DEAD
    assert len(made.redis.state.dead) == 1
    return made


def retry(stage: Stage, *jobs: int) -> list[Retried]:
    """Retry jobs on the stage."""
    return list(
        retry_dead(jobs, RETRY, fetches=stage.database, letters=stage.redis, doorbell=stage.redis)
    )


def discard(stage: Stage, *jobs: int) -> list[Discarded]:
    """Discard jobs on the stage."""
    return list(discard_dead(jobs, DISCARD, fetches=stage.database, letters=stage.redis))


def test_a_retried_job_rings_at_once_and_runs_to_its_end(stage: Stage) -> None:
    done = retry(stage, 1)

    assert done == [Retried(1, Pool.INTERACTIVE)]
    assert (stage.messages(), stage.redis.state.dead) == (1, [])
    assert stage.worker(host="other").work() == [Done(), Done()]
    assert stage.database.get(1).state is FetchState.DONE


def test_each_job_is_answered_once_and_in_order(stage: Stage) -> None:
    done = retry(stage, 9, 1, 9, 1)

    assert [(one.job, one.refused is None) for one in done] == [(9, False), (1, True)]
    assert stage.messages() == 1


def test_a_job_whose_domain_is_fetched_anew_is_refused_and_keeps_its_letter(stage: Stage) -> None:
    newer = stage.database.request(Request(BLUEBIRD, FetchReason.SCHEDULE, force=True))

    done = retry(stage, 1)

    assert done == [Retried(1, refused=f"superseded by fetch {newer.fetch.id}")]
    assert len(stage.redis.state.dead) == 1
    assert stage.messages() == 0


def test_a_retry_while_redis_is_away_is_in_the_row_and_the_sweeper_rings(stage: Stage) -> None:
    seat = stage.worker(host="other")
    stage.redis.down = True

    done = retry(stage, 1)
    stage.redis.down = False
    stage.sweep(seat)

    assert done == [Retried(1, Pool.INTERACTIVE)]
    assert stage.database.jobs[1].job.state is JobState.QUEUED
    assert stage.messages() == 1


def test_a_discarded_job_loses_its_letter_and_stays_dead(stage: Stage) -> None:
    done = discard(stage, 1, 9)

    assert done == [Discarded(1), Discarded(9, refused="there is no dead job 9")]
    assert stage.redis.state.dead == []
    assert stage.database.jobs[1].job.state is JobState.DEAD


def test_discarding_while_redis_is_away_is_in_the_row(stage: Stage) -> None:
    stage.redis.down = True

    done = discard(stage, 1)

    assert done == [Discarded(1)]
    assert stage.database.jobs[1].discarded
