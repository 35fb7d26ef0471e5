"""Who waits for a turn, in a worker: bulk gives way, room is filled, nothing stays silent."""

from datetime import timedelta

from ppcfetch.model.admission import Admission
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.lease import Budget
from ppcfetch.model.outcome import Done, Spill
from ppcfetch.ports import Request
from ppcfetch.usecases.request_refresh import request_refresh
from tests.stage import Seat, Stage

SHORT = Budget(pages=2, time=timedelta(hours=1))


def ask(stage: Stage, domain: str, reason: FetchReason = FetchReason.IMPORT) -> int:
    """Ask for a domain; gives the fetch."""
    request = Request(DomainName(domain), reason, force=True)
    asked = request_refresh(request, fetches=stage.database, doorbell=stage.redis)
    return asked.fetch.id


def bulk_worker(stage: Stage, *, host: str = "host") -> Seat:
    return stage.worker(Pool.BULK, host=host, budget=SHORT)


def ringing(stage: Stage) -> set[int]:
    return {job_id for job_id in stage.database.jobs if stage.redis.where(job_id) is not None}


def test_a_bulk_job_gives_way_when_its_turn_is_over_and_goes_on_later() -> None:
    stage = Stage(pages=5)
    fetch = ask(stage, "giant.example")

    outcomes = bulk_worker(stage).work()

    assert outcomes[:3] == [Spill(), Spill(), Done()]
    assert stage.database.fetches[fetch].state is FetchState.DONE
    assert stage.messages() == 0


def test_one_thread_reads_a_small_domain_while_a_giant_is_half_read() -> None:
    stage = Stage(pages=50)
    giant = ask(stage, "giant.example")
    worker = bulk_worker(stage)
    [held] = worker.lease()
    stage.archive.pages = 1
    small = ask(stage, "small.example", FetchReason.SCHEDULE)
    stage.archive.pages = 50
    worker.finish(held)

    stage.archive.pages = 1
    [next_one] = worker.lease()
    worker.finish(next_one)

    assert next_one.lease.job.fetch_id == small
    assert stage.database.fetches[small].state is FetchState.DONE
    assert stage.database.fetches[giant].state is FetchState.ACTIVE


def test_the_end_of_a_job_lets_the_next_one_in() -> None:
    stage = Stage(pages=1)
    stage.database.admission = Admission(window=2)
    for number in range(5):
        ask(stage, f"a{number}.example")
    before = ringing(stage)

    bulk_worker(stage).work()

    assert before == {1, 2}
    assert {row.job.state for row in stage.database.jobs.values()} == {JobState.DONE}


def test_a_job_that_waits_has_no_message_and_the_sweep_makes_none() -> None:
    stage = Stage()
    stage.database.admission = Admission(window=2)
    for number in range(4):
        ask(stage, f"a{number}.example")

    report = stage.sweep(bulk_worker(stage))

    assert report is not None
    assert (report.admitted, report.published) == (0, 0)
    assert ringing(stage) == {1, 2}


def test_who_was_let_in_by_one_who_died_before_ringing_is_rung_for_by_the_sweep() -> None:
    stage = Stage()
    stage.database.admission = Admission(window=2)
    for number in range(4):
        ask(stage, f"a{number}.example")
    worker = bulk_worker(stage)
    stage.sweep(worker)
    worker.lease(2)

    dead_before_ringing = stage.database.admit()
    silent = ringing(stage)
    report = stage.sweep(worker)

    assert [job_id for job_id, _ in dead_before_ringing] == [3, 4]
    assert silent == {1, 2}
    assert report is not None
    assert report.published == 2
    assert ringing(stage) == {1, 2, 3, 4}


def test_a_job_let_in_again_before_its_old_message_was_settled_rings_all_the_same() -> None:
    """Another process may let it in between our two steps, and finds the old message."""
    stage = Stage()
    ask(stage, "giant.example")
    worker = bulk_worker(stage)
    [held] = worker.lease()
    stage.database.settle([(held.lease, Spill())])
    stage.redis.publish(stage.database.admit())
    worker.ports.settling.settle([held.delivery])
    silent = ringing(stage)

    worker.admitter.wake([held.lease.job.id])
    worker.admitter.look()

    assert silent == set()
    assert ringing(stage) == {held.lease.job.id}


def test_a_lease_makes_room_for_whose_turn_is_next() -> None:
    """A pool of many slots fills at once, not by a window in each sweep."""
    stage = Stage()
    stage.database.admission = Admission(window=2)
    for number in range(4):
        ask(stage, f"a{number}.example")
    worker = bulk_worker(stage)
    before = ringing(stage)

    held = worker.lease(2)

    assert len(before) == len(held) == 2
    assert worker.woken.is_set()
    assert worker.admitter.look() == 2


def test_a_look_that_fails_is_made_good_by_the_next_one() -> None:
    stage = Stage()
    stage.database.admission = Admission(window=2)
    for number in range(3):
        ask(stage, f"a{number}.example")
    worker = bulk_worker(stage)
    worker.lease(1)
    stage.database.down = True

    failed = worker.admitter.look()
    stage.database.down = False

    assert failed == 0
    assert worker.admitter.look() == 1


def test_a_request_is_answered_although_nobody_could_be_let_in() -> None:
    stage = Stage()
    stage.redis.down = True

    fetch = ask(stage, "shop.example")

    assert stage.database.fetches[fetch].state is FetchState.ACTIVE
