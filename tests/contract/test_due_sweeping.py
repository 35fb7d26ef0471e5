"""What a sweeper asks: whose turn it is, what should ring, which fetches are over."""

from datetime import timedelta

from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Holder
from ppcfetch.model.outcome import Dead, RetryLater
from tests.contract.database_rig import ANNA, BERT, LEASE, MOMENT, Rig

TURN = timedelta(seconds=45)


def ask_many(database: Rig, count: int, reason: FetchReason) -> list[int]:
    """Give the ids of so many new jobs."""
    return [
        database.ask(f"{reason}-{number}.example", reason).jobs[0][0] for number in range(count)
    ]


def test_one_sweeper_at_a_time_has_the_turn_and_may_keep_it(database: Rig) -> None:
    assert database.due.take_turn(ANNA, TURN)
    assert not database.due.take_turn(BERT, TURN)
    assert database.due.take_turn(ANNA, TURN)


def test_a_sweeper_that_sleeps_loses_the_turn_by_the_database_clock(database: Rig) -> None:
    database.due.take_turn(ANNA, TURN)
    database.passes(TURN - MOMENT)
    early = database.due.take_turn(BERT, TURN)
    database.passes(MOMENT)

    late = database.due.take_turn(BERT, TURN)

    assert (early, late) == (False, True)
    assert not database.due.take_turn(ANNA, TURN)


def test_a_later_process_of_the_same_name_is_another_sweeper(database: Rig) -> None:
    database.due.take_turn(Holder("host.bulk.1", 4), TURN)

    assert not database.due.take_turn(Holder("host.bulk.1", 5), TURN)


def test_queued_jobs_that_are_due_should_ring_interactive_and_oldest_first(database: Rig) -> None:
    bulk = ask_many(database, 3, FetchReason.IMPORT)
    interactive = ask_many(database, 3, FetchReason.PERSON)

    ringing = database.due.unrung(None, 100)

    assert ringing == [
        *((job_id, Pool.INTERACTIVE) for job_id in interactive),
        *((job_id, Pool.BULK) for job_id in bulk),
    ]


def test_batches_go_on_behind_the_last_one_until_they_are_empty(database: Rig) -> None:
    bulk = ask_many(database, 3, FetchReason.IMPORT)
    interactive = ask_many(database, 4, FetchReason.PERSON)

    batches = [
        database.due.unrung(None, 3),
        database.due.unrung((0, interactive[2]), 3),
        database.due.unrung((1, bulk[1]), 3),
        database.due.unrung((1, bulk[2]), 3),
    ]

    ids = [[job_id for job_id, _ in batch] for batch in batches]
    assert ids == [interactive[:3], [interactive[3], *bulk[:2]], [bulk[2]], []]


def test_a_job_that_waits_for_its_time_does_not_ring_before(database: Rig) -> None:
    job_id = database.queued()
    database.jobs.settle([(database.lease(job_id), RetryLater(LEASE, "later"))])

    early = [*database.due.admit(), *database.due.unrung(None, 10)]
    database.passes(LEASE)
    database.due.admit()

    assert early == []
    assert database.due.unrung(None, 10) == [(job_id, Pool.INTERACTIVE)]


def test_a_running_job_rings_when_it_was_not_beaten_for_a_lease(database: Rig) -> None:
    job_id = database.queued()
    database.lease(job_id)
    database.passes(LEASE - MOMENT)

    early = database.due.unrung(None, 10)
    database.passes(MOMENT)

    assert early == []
    assert database.due.unrung(None, 10) == [(job_id, Pool.INTERACTIVE)]


def test_ended_jobs_never_ring(database: Rig) -> None:
    database.jobs.settle([(database.lease(database.queued("one.example")), Dead("no use"))])
    database.fetches.cancel(database.ask("two.example").fetch.id)
    database.passes(LEASE)

    assert database.due.unrung(None, 10) == []


def test_an_active_fetch_without_active_jobs_is_closed(database: Rig) -> None:
    idle, busy = database.ask("idle.example"), database.ask("busy.example")
    database.forget_jobs(idle.fetch.id)

    closed = database.due.close_idle_fetches()

    fetch = database.fetches.get(idle.fetch.id)
    assert closed == 1
    assert (fetch.state, fetch.error) == (FetchState.FAILED, "its jobs are gone")
    assert database.fetches.get(busy.fetch.id).state is FetchState.ACTIVE
    assert database.due.close_idle_fetches() == 0


def test_the_epoch_never_changes(database: Rig) -> None:
    assert database.due.epoch() == database.due.epoch() != ""
