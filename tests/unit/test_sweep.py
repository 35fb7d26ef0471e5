"""The sweeper and the rebuild after a loss: who does what, and in which order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from ppcfetch.errors import DatabaseUnavailable
from ppcfetch.model.fetch import FetchState
from ppcfetch.model.job import Pool
from ppcfetch.usecases.sweep import rebuild_after_loss
from tests.stage import Stage


@dataclass
class SilentDoorbell:
    """A doorbell that cannot be reached."""

    asked: list[tuple[int, Pool]] = field(default_factory=list)

    def publish(self, jobs: Sequence[tuple[int, Pool]]) -> int:
        self.asked += jobs
        raise DatabaseUnavailable("away")


def test_one_process_sweeps_at_a_time() -> None:
    stage = Stage()
    first, second = stage.worker(), stage.worker()

    assert stage.sweep(first) is not None
    assert stage.sweep(second) is None


def test_a_sweeper_that_sleeps_hands_its_turn_on() -> None:
    """A lock of a session would be kept for ever by a paused process."""
    stage = Stage()
    sleeper, other = stage.worker(), stage.worker()
    stage.sweep(sleeper)
    stage.pass_time(timedelta(seconds=61))

    assert stage.sweep(other) is not None
    assert stage.sweep(sleeper) is None


def test_a_fetch_without_active_jobs_is_closed() -> None:
    stage = Stage()
    asked = stage.request()
    del stage.database.jobs[1]

    report = stage.sweep(stage.worker())

    assert report is not None
    assert report.closed == 1
    assert stage.database.get(asked.fetch.id).state is FetchState.FAILED


def test_redis_bears_the_databases_epoch_behind_a_rebuild() -> None:
    """No process invents a value."""
    stage = Stage()
    stage.request()
    stage.redis.flushall()

    rebuilt = rebuild_after_loss(due=stage.database, doorbell=stage.redis, census=stage.redis)

    assert rebuilt
    assert stage.redis.epoch() == stage.database.epoch()
    assert stage.messages() == 1


def test_redis_bears_no_epoch_before_everything_was_published() -> None:
    """A process that dies in between leaves the rebuild to the next one."""
    stage = Stage()
    stage.request()
    stage.redis.flushall()
    doorbell = SilentDoorbell()

    with pytest.raises(DatabaseUnavailable):
        rebuild_after_loss(due=stage.database, doorbell=doorbell, census=stage.redis)

    assert doorbell.asked == [(1, Pool.INTERACTIVE)]
    assert stage.redis.epoch() is None
