"""Leaving, joining and stopping that meet: nobody waits for what was just ended."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from sqlalchemy import text

from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.following import Company, Leaving
from ppcfetch.model.job import ACTIVE, JobState
from ppcfetch.ports import Asked, Request
from tests.contract.at_once import at_once, waiting_behind
from tests.contract.database_rig import RealRig

ROUNDS = 20
ANN, BEN = 7, 8


def ask_as(postgres: RealRig, user: int, domain: str = "shop.example") -> Asked:
    """Ask for a fetch or join it."""
    request = Request(DomainName(domain), FetchReason.PERSON, asked_by=user)
    return postgres.fetches.request(request)


def split(postgres: RealRig, job_id: int) -> str:
    """Give a statement that ends a job and leaves another one, as splits and top-ups do."""
    fetch = postgres.row(job_id).fetch_id
    return (
        f"WITH ended AS (UPDATE jobs SET state = 'done' WHERE id = {job_id})"  # noqa: S608 - numbers of the test
        " INSERT INTO jobs (fetch_id, kind, pool, domain)"
        f" VALUES ({fetch}, 'top up', 'bulk', 'shop.example')"
    )


def test_of_two_who_leave_at_once_the_second_stops_it(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    ann, ben = postgres.person(ANN), postgres.person(BEN)
    for number in range(ROUNDS):
        fetch = ask_as(postgres, ann, f"shop-{number}.example").fetch.id
        ask_as(postgres, ben, f"shop-{number}.example")

        left = at_once(
            threads, *[partial(postgres.followers.leave, fetch, who) for who in (ann, ben)]
        )

        assert sorted(map(str, left)) == [Leaving.LEFT, Leaving.STOPPED]
        assert postgres.fetches.get(fetch).state is FetchState.CANCELLED


def test_who_joins_while_the_last_one_leaves_waits_for_what_goes_on(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    ann, ben = postgres.person(ANN), postgres.person(BEN)
    for number in range(ROUNDS):
        domain = f"shop-{number}.example"
        first = ask_as(postgres, ann, domain).fetch.id

        left, asked = at_once(
            threads,
            partial(postgres.followers.leave, first, ann),
            partial(ask_as, postgres, ben, domain),
        )

        assert isinstance(asked, Asked), asked
        assert left is (Leaving.LEFT if asked.joined else Leaving.STOPPED)
        assert postgres.fetches.get(asked.fetch.id).state is FetchState.ACTIVE
        assert postgres.followers.company(asked.fetch.id, ben).follows


def test_who_joins_locks_the_jobs_before_their_fetch(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    ann = postgres.person(ANN)
    fetch = postgres.ask(reason=FetchReason.IMPORT).fetch.id

    with waiting_behind(postgres, threads, lambda: ask_as(postgres, ann)) as (other, start):
        other.execute(text("SELECT FROM jobs FOR UPDATE"))
        asked = start()
        other.execute(text("SELECT FROM fetches FOR UPDATE NOWAIT"))
        other.commit()

    assert (asked.result().fetch.id, asked.result().joined) == (fetch, True)


def test_what_a_job_leaves_behind_while_it_is_being_stopped_is_stopped_with_it(
    postgres: RealRig, threads: ThreadPoolExecutor
) -> None:
    ann = postgres.person(ANN)
    asked = ask_as(postgres, ann)
    job_id, fetch = asked.jobs[0][0], asked.fetch.id
    leave = partial(postgres.followers.leave, fetch, ann)

    with waiting_behind(postgres, threads, leave) as (other, start):
        other.execute(text(split(postgres, job_id)))
        left = start()
        other.commit()

    assert left.result() is Leaving.STOPPED
    states = {JobState(row.state) for row in postgres.run("SELECT state FROM jobs")}
    assert not states & ACTIVE
    assert postgres.fetches.get(fetch).state is FetchState.CANCELLED


def test_who_comes_back_after_leaving_waits_again_behind_the_others(postgres: RealRig) -> None:
    ann, ben = postgres.person(ANN), postgres.person(BEN)
    fetch = ask_as(postgres, ann).fetch.id
    ask_as(postgres, ben)
    postgres.followers.leave(fetch, ann)

    back = ask_as(postgres, ann)

    assert (back.fetch.id, back.fetch.asked_by) == (fetch, ben)
    assert postgres.followers.company(fetch, ann) == Company(follows=True, goes_on=True)
    assert postgres.followers.leave(fetch, ben) is Leaving.LEFT
    assert postgres.fetches.get(fetch).asked_by == ann
