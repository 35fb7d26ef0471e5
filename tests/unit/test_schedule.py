"""The schedule: stale watched domains, so many a round, and none while the pool is paused."""

from datetime import timedelta

from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason, Reach
from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Action, Deed
from ppcfetch.ports import SweepReport
from ppcfetch.usecases.schedule import MOST_A_ROUND, schedule
from ppcfetch.usecases.sweep import sweep
from tests.stage import Stage

DAY = timedelta(days=1)


def watch(stage: Stage, count: int) -> None:
    """Watch so many domains that are all due."""
    for number in range(count):
        stage.database.add(7, DomainName(f"shop-{number}.example"))
    stage.pass_time(DAY)


def once(stage: Stage) -> int:
    """Make one round of the schedule."""
    return schedule(
        DAY,
        watched=stage.database,
        imports=stage.database,
        doorbell=stage.redis,
        pauses=stage.database,
        reach=Reach(),
    )


def test_watched_domains_that_are_due_are_asked_for_and_ring_in_bulk() -> None:
    stage = Stage()
    watch(stage, 3)

    asked = once(stage)

    assert (asked, once(stage)) == (3, 0)
    reasons = {(fetch.reason, fetch.asked_by) for fetch in stage.database.fetches.values()}
    assert reasons == {(FetchReason.SCHEDULE, None)}
    assert stage.redis.counts(Pool.BULK).undelivered == 3


def test_one_round_asks_for_a_bounded_number() -> None:
    stage = Stage()
    watch(stage, MOST_A_ROUND + 5)

    rounds = [once(stage) for _ in range(3)]

    assert rounds == [MOST_A_ROUND, 5, 0]


def test_a_paused_pool_is_asked_nothing_and_what_is_due_stays_due() -> None:
    stage = Stage()
    watch(stage, 2)
    deed = Deed("ann", Action.PAUSE, "too warm")
    stage.database.pause(Pool.BULK, deed)

    while_paused = once(stage)
    stage.database.resume(Pool.BULK, deed)

    assert (while_paused, once(stage)) == (0, 2)


def test_with_redis_away_the_requests_are_stored_and_ring_later() -> None:
    stage = Stage()
    watch(stage, 1)
    stage.redis.down = True

    assert once(stage) == 1


def test_only_the_sweeper_whose_turn_it_is_schedules() -> None:
    stage = Stage()
    first, second = stage.worker(Pool.BULK), stage.worker(Pool.BULK)
    rounds: list[int] = []

    def scheduled() -> int:
        rounds.append(1)
        return 4

    reports = [
        sweep(
            seat.ports.holder,
            due=stage.database,
            doorbell=stage.redis,
            census=stage.redis,
            turn=timedelta(seconds=60),
            schedule=scheduled,
        )
        for seat in (first, second)
    ]

    assert (reports, rounds) == ([SweepReport(scheduled=4, rebuilt=True), None], [1])
