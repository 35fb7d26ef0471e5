"""What only happens between connections: locks, who waits for whom, and what he sees then."""

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest
from sqlalchemy import text

from ppcfetch.adapters.database.closing import close_fetches
from ppcfetch.errors import LeaseLost, Refused
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.lease import Holder, Lease, Refusal
from ppcfetch.model.lease import Refused as NotLeased
from ppcfetch.model.outcome import Dead, Done, HandBack, Outcome
from ppcfetch.ports import Request, Taking
from tests.contract.at_once import at_once, waiting_behind
from tests.contract.database_rig import ANNA, BERT, LEASE, RealRig, an_ad

ROUNDS = 20


def test_two_takes_of_one_job_at_once_give_one_lease(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    for number in range(ROUNDS):
        job_id = postgres.queued(f"shop-{number}.example")

        answers = at_once(
            threads, partial(postgres.take, job_id, ANNA), partial(postgres.take, job_id, BERT)
        )

        leases = [answer for answer in answers if isinstance(answer, Lease)]
        refusals = [answer.why for answer in answers if isinstance(answer, NotLeased)]
        assert (len(leases), refusals) == (1, [Refusal.HELD])
        assert postgres.row(job_id).fence == 1


def test_a_take_that_waited_for_a_beat_sees_the_beat(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    job_id = postgres.queued()
    postgres.lease(job_id, ANNA)
    postgres.passes(LEASE)

    with waiting_behind(postgres, threads, lambda: postgres.take(job_id, BERT)) as (other, start):
        other.execute(text("UPDATE jobs SET beat_at = clock_timestamp()"))
        answer = start()
        other.commit()

    assert answer.result() == NotLeased(job_id, Refusal.HELD, Pool.INTERACTIVE)


def test_a_take_that_waited_for_a_settling_leases_the_row_as_it_is_then(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    job_id = postgres.queued()
    postgres.write(postgres.lease(job_id, ANNA))

    with waiting_behind(postgres, threads, lambda: postgres.take(job_id, BERT)) as (other, start):
        other.execute(text("UPDATE jobs SET state = 'queued', fence = 8, cursor = 'moved'"))
        answer = start()
        other.commit()

    lease = answer.result()
    assert isinstance(lease, Lease)
    assert (lease.fence, lease.job.checkpoint.cursor) == (9, "moved")


def test_an_outcome_that_waited_for_a_new_lease_is_refused(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    stale = postgres.lease(postgres.queued())
    told = [(stale, Done())]

    with waiting_behind(postgres, threads, lambda: postgres.jobs.settle(told)) as (other, start):
        other.execute(text("UPDATE jobs SET fence = fence + 1"))
        settled = start()
        other.commit()

    assert settled.result() == frozenset()
    assert postgres.row(stale.job.id).state is JobState.RUNNING


def test_a_locked_row_does_not_hold_up_the_beats_of_the_others(postgres: RealRig) -> None:
    locked = postgres.lease(postgres.queued("locked.example"))
    other = postgres.lease(postgres.queued("other.example"))
    postgres.passes(LEASE)

    with postgres.engine.begin() as connection:
        cancel = "UPDATE jobs SET state = 'cancelled', fence = fence + 1 WHERE id = :id"
        connection.execute(text(cancel), {"id": locked.job.id})
        while_locked = postgres.jobs.beat([locked, other])
    afterwards = postgres.jobs.beat([locked, other])

    assert while_locked == {locked.job.id, other.job.id}
    assert afterwards == postgres.jobs.vetoed([other.job.id]) == {other.job.id}


def test_of_two_last_jobs_that_end_at_once_one_ends_the_fetch(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    asked = postgres.ask()
    second = postgres.add_job(asked.fetch.id)
    postgres.lease(asked.jobs[0][0])
    told = [(postgres.lease(second), Done())]

    with waiting_behind(postgres, threads, lambda: postgres.jobs.settle(told)) as (other, start):
        other.execute(text("UPDATE jobs SET state = 'done' WHERE id <> :id"), {"id": second})
        closed_by_first = close_fetches(other, [asked.fetch.id])
        settled = start()
        other.commit()

    assert closed_by_first == frozenset()
    assert settled.result() == {second}
    assert postgres.fetches.get(asked.fetch.id).state is FetchState.DONE


def test_requests_at_once_make_one_fetch(postgres: RealRig, threads: ThreadPoolExecutor) -> None:
    for number in range(ROUNDS):
        domain = f"shop-{number}.example"

        answers = at_once(threads, *[partial(postgres.ask, domain)] * 6)

        errors = [answer for answer in answers if isinstance(answer, Exception)]
        assert errors == []
        asked = [answer for answer in answers if not isinstance(answer, Exception)]
        assert sorted(answer.joined for answer in asked) == [False, *[True] * 5]
        assert len({answer.fetch.id for answer in asked}) == 1


def test_requests_at_once_cannot_exceed_the_limit(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    requests = [
        Request(DomainName(f"shop-{n}.example"), FetchReason.PERSON, asked_by=7, limit=2)
        for n in range(6)
    ]

    answers = at_once(
        threads, *[partial(postgres.fetches.request, request) for request in requests]
    )

    refused = [answer for answer in answers if isinstance(answer, Refused)]
    assert len(refused) == 4, answers


def test_a_retry_that_waited_for_a_newer_fetch_is_refused(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    job_id = postgres.queued()
    postgres.jobs.settle([(postgres.lease(job_id), Dead("no use"))])

    with waiting_behind(postgres, threads, lambda: postgres.fetches.retry(job_id)) as (
        other,
        start,
    ):
        other.execute(
            text("INSERT INTO fetches (domain, reason) VALUES ('shop.example', 'person')")
        )
        retried = start()
        other.commit()

    with pytest.raises(Refused, match="superseded by fetch"):
        retried.result()
    assert postgres.row(job_id).state is JobState.DEAD


def test_everybody_locks_in_one_order_so_nobody_waits_for_ever(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    asked = [postgres.ask(f"shop-{number}.example") for number in range(4)]
    job_ids = [ids for one in asked for ids in (one.jobs[0][0], postgres.add_job(one.fetch.id))]
    fetch_ids = [one.fetch.id for one in asked]
    # A deadlock or a lock that is never given up would be an error of one of the threads.
    work = [
        partial(one_worker, postgres, Holder(f"worker-{number}", number), job_ids, seed=number)
        for number in range(1, 5)
    ]

    answers = at_once(
        threads, *work, partial(one_person, postgres, fetch_ids), partial(one_sweeper, postgres)
    )

    assert answers == [None] * 6
    postgres.due.close_idle_fetches()
    ends = {postgres.fetches.get(fetch_id).state for fetch_id in fetch_ids}
    assert FetchState.ACTIVE not in ends


def one_worker(postgres: RealRig, holder: Holder, job_ids: list[int], *, seed: int) -> None:
    dice = random.Random(seed)
    for turn in range(15):
        takings = [Taking(job_id, f"{seed}-{turn}") for job_id in dice.sample(job_ids, 6)]
        answers = postgres.jobs.take(takings, holder=holder, pool=Pool.INTERACTIVE)
        leases = [answer for answer in answers.values() if isinstance(answer, Lease)]
        dice.shuffle(leases)
        postgres.jobs.beat(leases)
        for lease in leases[:1]:
            with suppress(LeaseLost):
                postgres.write(lease, [an_ad(dice.randrange(9))], last=dice.random() < 0.2)
        ends: list[Outcome] = [HandBack(), HandBack(), Dead("no use")]
        postgres.jobs.settle([(lease, dice.choice(ends)) for lease in leases])


def one_person(postgres: RealRig, fetch_ids: list[int]) -> None:
    for fetch_id in reversed(fetch_ids):
        for _ in range(4):
            postgres.ask(postgres.fetches.get(fetch_id).domain.name)
        postgres.fetches.cancel(fetch_id)


def one_sweeper(postgres: RealRig) -> None:
    for _ in range(15):
        postgres.due.unrung(None, 5)
        postgres.due.close_idle_fetches()
        postgres.due.prune()
