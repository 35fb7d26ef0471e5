"""What a worker looks at before it takes anything, and what it leaves to others."""

from ppcfetch.model.admission import Admission
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason
from ppcfetch.model.job import JobState
from ppcfetch.ports import Request
from ppcfetch.usecases.request_refresh import request_refresh
from tests.stage import Stage
from workers.intake import LOOK


def ask_for(stage: Stage, count: int) -> None:
    """Ask for so many domains."""
    for number in range(count):
        request = Request(DomainName(f"shop-{number}.example"), FetchReason.PERSON)
        request_refresh(request, fetches=stage.database, doorbell=stage.redis)


def beat_without_redis(stage: Stage, *, leases: int = 1) -> None:
    """Let the deliveries of all running jobs look abandoned while their rows are beaten."""
    for _ in range(leases):
        stage.pass_lease()
    for row in stage.database.jobs.values():
        row.beat_at = stage.database.moment()


def test_a_delivery_whose_row_is_beaten_is_not_claimed() -> None:
    """The second safety net: Redis was away for its owner, the database was not."""
    stage = Stage()
    stage.request()
    (held,) = stage.worker().lease()
    beat_without_redis(stage)

    found = stage.worker(host="other").intake.next(1)

    assert not found
    where = stage.redis.where(1)
    assert where is not None
    assert where.consumer == held.delivery.token.consumer


def test_an_abandoned_job_is_found_behind_any_number_of_vetoed_ones() -> None:
    """A look at the first batch alone would be stuck for ever."""
    stage = Stage()
    stage.database.admission = Admission(window=LOOK + 1)
    ask_for(stage, LOOK + 1)
    owner = stage.worker()
    owner.lease(LOOK + 1)
    beat_without_redis(stage)
    last = stage.database.jobs[LOOK + 1]
    last.beat_at -= stage.limits.lease

    found = stage.worker(host="other").intake.next(1)

    assert [delivery.job_id for delivery in found] == [LOOK + 1]


def test_no_more_is_claimed_than_there_are_free_slots() -> None:
    """What is claimed and not begun would only grow old in a hand."""
    stage = Stage()
    ask_for(stage, 5)
    stage.worker().lease(5)
    stage.pass_lease()

    found = stage.worker(host="other").intake.next(2)

    assert len(found) == 2


def test_a_delivery_of_a_job_that_is_held_elsewhere_is_left() -> None:
    """Whoever holds the job settles it, or else it is found again when he is silent."""
    stage = Stage()
    stage.request()
    stage.worker().lease()
    thief = stage.worker(host="other")
    stage.pass_lease()
    deliveries = thief.intake.next(1)
    stage.database.jobs[1].beat_at = stage.database.moment()

    held = thief.leasing.lease(deliveries)

    assert not held
    assert stage.messages() == 1
    assert stage.database.jobs[1].job.state is JobState.RUNNING


def test_what_a_sleeper_had_read_is_left_to_who_has_claimed_it_meanwhile() -> None:
    """The token is looked at directly before the lease is taken, or both would start the job."""
    stage = Stage()
    stage.request()
    sleeper = stage.worker()
    deliveries = sleeper.intake.next(1)
    stage.pass_lease()
    rescuer = stage.worker(host="other")
    claimed = rescuer.intake.next(1)

    woken = sleeper.leasing.lease(deliveries)
    taken = rescuer.leasing.lease(claimed)

    assert not woken
    assert [held.lease.job.starts for held in taken] == [1]


def test_history_is_walked_once_though_what_it_gave_is_still_in_hand() -> None:
    """Walked until it is empty, it would keep a restarted worker from all new work."""
    stage = Stage()
    ask_for(stage, 1)
    stage.worker().lease()
    stage.redis.expire_name("host.interactive.1")
    restarted = stage.worker()
    (first,) = restarted.lease(2)
    ask_for(stage, 2)

    second = restarted.lease(1)

    assert first.lease.job.id == 1
    assert [held.lease.job.id for held in second] == [2]


def test_a_delivery_that_is_renewed_does_not_look_abandoned() -> None:
    """The first safety net: nobody even has to ask the row."""
    stage = Stage()
    stage.request()
    owner, other = stage.worker(), stage.worker(host="other")
    owner.lease()

    for _ in range(8):
        stage.pass_time(stage.limits.renew)
        owner.heartbeat.round(stopping=False)

    assert not other.ports.deliveries.abandoned("0", 1)
