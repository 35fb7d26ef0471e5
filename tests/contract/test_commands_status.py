"""`ppcfetch status` and `ppcfetch doctor` on real servers: rows and streams side by side."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ppcfetch.adapters.redis.census import RedisCensus
from ppcfetch.adapters.redis.connections import Connections, connect
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.names import take_name
from ppcfetch.model.ad import ArchivePage
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Holder
from ppcfetch.model.operation import Action, Deed
from ppcfetch.model.outcome import Dead, Rest
from tests.contract.commands_rig import Commands
from tests.contract.database_rig import an_ad

LEASE = timedelta(minutes=1)


@pytest.fixture
def redis(redis_url: str) -> Iterator[Connections]:
    """Clients of the commands' Redis, with its groups made."""
    made = connect(redis_url, block=timedelta(seconds=2))
    RedisCensus(made.rest, Keys()).ensure_groups()
    yield made
    made.close()


def publish(redis: Connections, *jobs: int, pool: Pool = Pool.INTERACTIVE) -> None:
    """Ring for jobs."""
    RedisDoorbell(redis.rest, Keys()).publish([(job, pool) for job in jobs])


def interactive(commands: Commands) -> dict[str, Any]:
    """Give the status of the interactive pool."""
    rows: list[dict[str, Any]] = commands.json("status")
    return next(row for row in rows if row["pool"] == "interactive")


def test_a_ledger_in_order_has_no_difference(commands: Commands, redis: Connections) -> None:
    ringing, resting = (commands.database.queued(name) for name in ("a.example", "b.example"))
    publish(redis, ringing)
    lease = commands.database.lease(resting)
    commands.database.jobs.settle([(lease, Rest(timedelta(hours=1), "429"))])

    row = interactive(commands)

    assert (row["due"], row["not_yet_due"], row["messages_waiting"]) == (1, 1, 1)
    assert row["ledger_difference"] == 0
    assert commands.json("status", "--ledger") == []
    assert "agree" in commands.run("status", "--ledger").stdout


def test_jobs_without_a_message_and_messages_without_a_job_are_named(
    commands: Commands, redis: Connections
) -> None:
    silent = commands.database.queued("a.example")
    elsewhere = commands.database.queued("b.example")
    publish(redis, 999)
    publish(redis, elsewhere, pool=Pool.BULK)

    found = commands.json("status", "--ledger")

    assert [(one["kind"].partition(",")[0], one["job"], one["pool"]) for one in found] == [
        ("active", silent, "interactive"),
        ("rings in another pool than its row's", elsewhere, "interactive"),
        ("rings for no job that may run now", 999, "interactive"),
    ]


def test_the_difference_is_a_number_of_each_pool(commands: Commands, redis: Connections) -> None:
    commands.database.queued("a.example")
    commands.database.queued("b.example")

    assert interactive(commands)["ledger_difference"] == 2


def test_without_redis_the_rows_are_shown_alone(commands: Commands) -> None:
    commands.database.queued()
    commands.redis_url = "redis://127.0.0.1:1"

    row = interactive(commands)

    assert row["due"] == 1
    assert {row["messages_waiting"], row["ledger_difference"], row["workers"]} == {None}


def test_a_pause_and_the_workers_are_shown(commands: Commands, redis: Connections) -> None:
    take_name(redis.rest, Keys(), host="h", pool=Pool.INTERACTIVE, incarnation=1, lease=LEASE)
    commands.database.pauses.pause(Pool.INTERACTIVE, Deed("ann", Action.PAUSE, "a look"))

    row = interactive(commands)

    assert row["workers"] == 1
    assert row["paused_since"]
    assert (row["paused_by"], row["paused_for"]) == ("ann", "a look")
    told = commands.run("status").stdout
    assert all(words in told for words in ("paused since", "paused by", "ann", "a look"))


def test_the_last_page_is_told_after_its_job_has_ended(
    commands: Commands, redis: Connections
) -> None:
    before = interactive(commands)["last_page_seconds_ago"]
    lease = commands.database.lease(commands.database.queued())
    commands.database.write(lease, last=True)
    commands.database.passes(timedelta(seconds=90))

    row = interactive(commands)

    assert before is None
    assert row["last_page_seconds_ago"] >= 90
    assert (row["due"], row["running"], row["dead"]) == (0, 0, 0)
    assert row["oldest_waiting_seconds"] is None


def test_what_tops_up_a_walk_that_waited_long_has_waited_only_since_it_is_there(
    commands: Commands, redis: Connections
) -> None:
    lease = commands.database.lease(commands.database.queued())
    commands.database.passes(timedelta(seconds=90))
    dated = replace(an_ad(1), last_shown=datetime(2026, 11, 1, tzinfo=UTC))
    lease = commands.database.step(lease, ArchivePage((dated,), "more", None))
    commands.database.step(lease, ArchivePage((), None, None))

    row = interactive(commands)

    assert row["due"] + row["waiting_for_turn"] == 1
    assert row["oldest_waiting_seconds"] < 90


def test_fetches_under_way_and_those_that_ended_oddly_are_listed(commands: Commands) -> None:
    empty = commands.run("status", "--fetches").stdout
    good, shrunk, dead, active = (
        commands.database.ask(f"{name}.example") for name in ("good", "shrunk", "dead", "active")
    )
    for asked in (good, shrunk):
        commands.database.write(commands.database.lease(asked.jobs[0][0]), last=True)
    commands.database.run("UPDATE fetches SET shrunk = true WHERE domain = 'shrunk.example'")
    commands.database.jobs.settle([(commands.database.lease(dead.jobs[0][0]), Dead("400"))])

    rows = commands.json("status", "--fetches")

    assert [(one["fetch"], one["state"], one["kind"], one["odd"]) for one in rows] == [
        (active.fetch.id, "active", "a full walk", None),
        (dead.fetch.id, "failed", "a full walk", "400"),
        (shrunk.fetch.id, "done", "a full walk", "next to nothing was found of what was there"),
    ]
    assert "No fetch is under way" in empty


def test_the_doctor_says_what_stands_still_and_what_to_do(
    commands: Commands, redis: Connections
) -> None:
    job_id = commands.database.queued()
    commands.database.jobs.settle([(commands.database.lease(job_id), Dead("wrong shape"))])
    commands.database.queued("waiting.example")
    commands.database.pauses.pause(Pool.BULK, Deed("ann", Action.PAUSE, "a look"))

    findings = {one["check"]: one for one in commands.json("doctor")}

    assert "no worker is alive" in findings["pool interactive"]["found"]
    assert "paused since" in findings["pool bulk"]["found"]
    assert "nobody has swept yet" in findings["sweeper"]["found"]
    assert findings["stream bulk"]["verdict"] == "good"
    assert findings["dead jobs"]["found"] == "1 need a person"


def test_a_doctor_of_a_queue_that_works_has_nothing_to_advise(
    commands: Commands, redis: Connections
) -> None:
    for pool in Pool:
        take_name(redis.rest, Keys(), host="host", pool=pool, incarnation=1, lease=LEASE)
    commands.database.due.take_turn(Holder("host.bulk.1", 1), LEASE)

    findings = {one["check"]: one["verdict"] for one in commands.json("doctor")}

    checks = ("pool interactive", "pool bulk", "stream interactive", "sweeper", "dead jobs")
    assert {findings[check] for check in checks} == {"good"}
