"""Whose job may have a message next: turns by who asked, a window, parts of one fetch."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason
from ppcfetch.model.job import JobKind, Pool
from ppcfetch.model.lease import Lease, Refusal, Refused
from ppcfetch.model.outcome import Dead, HandBack, Rest, RetryLater, Spill
from ppcfetch.ports import Taking
from tests.contract.database_rig import ANNA, LEASE, MOMENT, Rig, an_ad

BULK = Pool.BULK
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def import_of(database: Rig, count: int) -> Sequence[int]:
    """Ask for so many domains in the name of the import; gives those that were let in."""
    return [
        job_id
        for number in range(count)
        for job_id, _ in database.ask(f"a{number}.example", FetchReason.IMPORT).jobs
    ]


def ids(jobs: Sequence[tuple[int, Pool]]) -> list[int]:
    return [job_id for job_id, _ in jobs]


def finish(database: Rig, job_id: int, *, pool: Pool = BULK) -> None:
    """Let a job that was let in run to its end."""
    database.write(take(database, job_id, pool=pool), last=True)


def take(database: Rig, job_id: int, *, pool: Pool = BULK) -> Lease:
    """Lease a job whose turn it is already, without letting others in."""
    lease = database.jobs.take([Taking(job_id, f"only {job_id}")], holder=ANNA, pool=pool)[job_id]
    assert isinstance(lease, Lease), lease
    return lease


def test_no_more_jobs_are_let_in_than_the_window_holds(database: Rig) -> None:
    database.let_in(window=3)

    admitted = import_of(database, 5)

    assert len(admitted) == 3
    assert database.due.admit() == []
    assert ids(database.due.unrung(None, 10)) == admitted


def test_jobs_in_a_hand_leave_their_place_in_the_window(database: Rig) -> None:
    database.let_in(window=2)
    first, second = import_of(database, 4)
    take(database, first)
    take(database, second)

    assert len(database.due.admit()) == 2


def test_who_asked_for_one_is_not_behind_who_asked_for_many(database: Rig) -> None:
    database.let_in(window=2)
    first, _ = import_of(database, 5)
    one = database.ask("b.example", FetchReason.SCHEDULE)
    finish(database, first)

    [(admitted, _)] = database.due.admit()

    assert one.jobs == ()
    assert database.row(admitted).fetch_id == one.fetch.id


def test_those_who_asked_take_turns(database: Rig) -> None:
    database.let_in(window=2)
    waiting = list(import_of(database, 6))
    for number in range(2):
        database.ask(f"b{number}.example", FetchReason.SCHEDULE)
    order = []

    while waiting:
        finish(database, waiting.pop(0))
        admitted = ids(database.due.admit())
        waiting += admitted
        order += [database.row(job_id).query.domain.name[0] for job_id in admitted]

    assert "".join(order) == "babaaa"


def test_pools_have_windows_of_their_own(database: Rig) -> None:
    database.let_in(window=2)
    import_of(database, 4)

    person = database.ask("person.example")

    assert person.jobs == ((5, Pool.INTERACTIVE),)


def test_nobody_is_let_in_before_the_job_is_due(database: Rig) -> None:
    job_id = database.queued()
    lease = take(database, job_id, pool=Pool.INTERACTIVE)
    database.jobs.settle([(lease, RetryLater(LEASE, "later"))])

    early = database.due.admit()
    database.passes(LEASE)

    assert early == []
    assert ids(database.due.admit()) == [job_id]


@pytest.mark.parametrize("outcome", [Spill(), Rest(LEASE * 0, "busy"), RetryLater(LEASE * 0, "no")])
def test_who_gives_way_goes_behind_the_others_of_his_line(
    database: Rig, outcome: Spill | Rest | RetryLater
) -> None:
    database.let_in(window=2)
    giant, second = import_of(database, 3)
    database.passes(MOMENT)
    database.jobs.settle([(take(database, giant), outcome)])

    [(third, _)] = database.due.admit()
    finish(database, second)

    assert third not in {giant, second}
    assert ids(database.due.admit()) == [giant]


def test_what_moved_behind_a_walk_is_read_before_the_next_of_the_line(database: Rig) -> None:
    """So the first of many domains ends first, and not all of them together at last."""
    database.let_in(window=2)
    [first] = import_of(database, 1)
    database.passes(MOMENT)
    import_of(database, 4)
    ads = [replace(an_ad(number), last_shown=NOON) for number in range(2)]
    walk = take(database, first)
    walk = database.step(walk, ArchivePage(tuple(ads[:1]), "more", None))
    database.step(walk, ArchivePage(tuple(ads[1:]), None, None))

    [(admitted, _)] = database.due.admit()

    assert database.row(admitted).kind is JobKind.TOP_UP


def test_who_is_asked_to_stop_keeps_his_turn(database: Rig) -> None:
    database.let_in(window=2)
    first, _ = import_of(database, 3)
    database.jobs.settle([(take(database, first), HandBack())])

    assert database.due.admit() == []
    assert first in ids(database.due.unrung(None, 10))


def test_a_message_for_a_job_that_waits_for_its_turn_is_refused_as_not_due(database: Rig) -> None:
    database.let_in(window=2)
    giant, _ = import_of(database, 3)
    database.passes(MOMENT)
    database.jobs.settle([(take(database, giant), Spill())])
    database.due.admit()

    for pool in Pool:
        answer = database.jobs.take([Taking(giant, f"early {pool}")], holder=ANNA, pool=pool)
        assert answer[giant] == Refused(giant, Refusal.NOT_DUE, BULK)


def test_a_job_that_was_let_in_again_at_once_is_told_to_who_put_it_back(database: Rig) -> None:
    [job_id] = import_of(database, 1)
    database.jobs.settle([(take(database, job_id), Spill())])
    by_another = database.due.admit()

    told = database.due.admit([job_id])
    take(database, job_id)

    assert ids(by_another) == ids(told) == [job_id]
    assert database.due.admit([job_id]) == []


def test_a_retried_job_waits_for_its_turn(database: Rig) -> None:
    database.let_in(window=2)
    dead, second = import_of(database, 4)
    database.passes(MOMENT)
    database.jobs.settle([(take(database, dead), Dead("no use"))])
    database.due.admit()

    revived = database.fetches.retry(dead)
    finish(database, second)

    assert (revived.pool, revived.jobs) == (BULK, ())
    assert ids(database.due.admit()) != [dead]


def test_so_many_parts_of_a_fetch_are_on_their_way_and_each_end_lets_one_follow(
    database: Rig,
) -> None:
    database.let_in(window=8, parts=2)
    domain = DomainName("huge.example")
    [(job_id, _)] = database.ask(domain.name).jobs
    page = ArchivePage((an_ad(1),), "more", None)
    database.step(database.lease(job_id), page, [Query(domain)] * 5)

    parts = ids(database.due.admit())
    take(database, parts[0])
    while_held = database.due.admit()
    finish(database, parts[1])
    following = database.due.admit()

    assert len(parts) == 2
    assert while_held == []
    assert len(following) == 1
