"""Pruning: what is past its keeping time goes, what pages and retries still need stays."""

from collections.abc import Sequence

from ppcfetch.adapters.database.due import PostgresDue
from ppcfetch.adapters.database.keeping import Keeping
from ppcfetch.errors import NotFound
from ppcfetch.model.fetch import FetchState
from ppcfetch.model.outcome import Dead
from tests.contract.database_rig import LEASE, MOMENT, RealRig, Rig, an_ad
from tests.fakes_tables import KEEPING, LIMITS


def complete(database: Rig, domain: str = "shop.example") -> tuple[int, int]:
    """Give a fetch that is done, and its job."""
    asked = database.ask(domain)
    [(job_id, _)] = asked.jobs
    database.write(database.lease(job_id), [an_ad(1)], last=True)
    return asked.fetch.id, job_id


def failed(database: Rig, domain: str = "shop.example") -> tuple[int, int]:
    """Give a fetch that failed, and its dead job."""
    asked = database.ask(domain)
    [(job_id, _)] = asked.jobs
    database.jobs.settle([(database.lease(job_id), Dead("no use"))])
    return asked.fetch.id, job_id


def kept(database: Rig, fetch_ids: Sequence[int]) -> list[bool]:
    """Tell of each fetch whether it is still there."""
    answers = []
    for fetch_id in fetch_ids:
        try:
            database.fetches.get(fetch_id)
            answers.append(True)
        except NotFound:
            answers.append(False)
    return answers


def test_nothing_goes_before_its_time(database: Rig) -> None:
    complete(database)
    database.passes(KEEPING.page_log - MOMENT)

    assert database.due.prune() == 0


def test_the_page_log_goes_first_then_ended_jobs(database: Rig) -> None:
    _, job_id = complete(database)

    database.passes(KEEPING.page_log + MOMENT)
    lines = database.due.prune()
    database.passes(KEEPING.jobs)
    rows = database.due.prune()

    assert (lines, rows) == (1, 1)
    assert database.job(job_id) is None


def test_dead_jobs_stay_as_long_as_their_fetch(database: Rig) -> None:
    _, job_id = failed(database)
    database.passes(KEEPING.fetches * 2)

    database.due.prune()

    assert database.row(job_id).error == "no use"


def test_jobs_of_a_fetch_with_a_dead_one_stay_since_a_retry_counts_them(database: Rig) -> None:
    asked = database.ask()
    dead = database.add_job(asked.fetch.id)
    database.jobs.settle([(database.lease(dead), Dead("no use"))])
    database.write(database.lease(asked.jobs[0][0]), last=True)
    database.passes(KEEPING.jobs * 2)

    database.due.prune()

    assert database.job(asked.jobs[0][0]) is not None


def test_a_part_retried_long_after_its_fetch_was_stopped_does_not_complete_it(
    database: Rig,
) -> None:
    """What was stopped was not read: without its jobs the retried one would seem to be all."""
    asked = database.ask()
    dead = database.add_job(asked.fetch.id)
    database.jobs.settle([(database.lease(dead), Dead("no use"))])
    assert database.fetches.cancel(asked.fetch.id)
    database.passes(KEEPING.jobs * 2)

    database.due.prune()
    database.fetches.retry(dead)
    database.write(database.lease(dead), last=True)

    assert database.fetches.get(asked.fetch.id).state is FetchState.CANCELLED


def test_jobs_that_are_active_never_go(database: Rig) -> None:
    queued = database.queued("one.example")
    running = database.lease(database.queued("two.example")).job.id
    database.passes(KEEPING.fetches * 2)

    assert database.due.prune() == 0
    assert database.job(queued) is not None
    assert database.job(running) is not None


def test_ended_jobs_of_an_active_fetch_stay(database: Rig) -> None:
    asked = database.ask()
    database.add_job(asked.fetch.id)
    database.write(database.lease(asked.jobs[0][0]), last=True)
    database.passes(KEEPING.jobs * 2)

    database.due.prune()

    assert database.job(asked.jobs[0][0]) is not None


def test_old_fetches_go_but_never_the_last_nor_the_last_complete_one(database: Rig) -> None:
    fetches = [
        complete(database)[0],
        failed(database)[0],
        complete(database)[0],
        failed(database)[0],
        failed(database)[0],
    ]
    database.passes(KEEPING.fetches + MOMENT)

    database.due.prune()

    assert kept(database, fetches) == [False, False, True, False, True]


def test_dead_jobs_go_with_their_fetch(database: Rig) -> None:
    _, job_id = failed(database)
    complete(database)
    database.passes(KEEPING.fetches + MOMENT)

    database.due.prune()

    assert database.job(job_id) is None


def test_a_reopened_fetch_is_not_old(database: Rig) -> None:
    fetch_id, job_id = failed(database)
    database.fetches.cancel(database.ask().fetch.id)
    database.passes(KEEPING.fetches + MOMENT)
    database.fetches.retry(job_id)

    database.due.prune()

    assert kept(database, [fetch_id]) == [True]


def test_expired_sessions_go(postgres: RealRig) -> None:
    postgres.run("INSERT INTO users (email, password_hash) VALUES ('a@shop.example', 'x')")
    postgres.run(
        "INSERT INTO sessions (token_hash, user_id, expires_at)"
        " SELECT decode(hex, 'hex'), users.id, now() + CAST(length AS interval)"
        " FROM users, (VALUES ('01', '1 hour'), ('02', '1 minute')) AS s (hex, length)"
    )
    postgres.passes(LEASE)

    pruned = postgres.due.prune()

    left = postgres.run("SELECT token_hash FROM sessions")
    assert pruned == 1
    assert [bytes(row.token_hash) for row in left] == [b"\x01"]


def test_a_call_looks_at_one_batch_and_the_next_goes_on_behind_it(postgres: RealRig) -> None:
    for number in range(5):
        complete(postgres, f"stays-{number}.example")
    goes, _ = failed(postgres, "moves.example")
    complete(postgres, "moves.example")
    postgres.passes(KEEPING.fetches + MOMENT)
    batch = Keeping(KEEPING.fetches, KEEPING.fetches * 2, KEEPING.fetches * 2, batch=2)
    due = PostgresDue(postgres.engine, LIMITS, batch)

    first_round = [due.prune() for _ in range(4)]
    complete(postgres, "stays-0.example")
    second_round = [due.prune() for _ in range(4)]

    assert first_round == [0, 0, 1, 0]
    assert second_round == [1, 0, 0, 0]
    assert kept(postgres, [goes]) == [False]
