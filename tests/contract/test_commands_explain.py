"""`ppcfetch explain` on real servers: what it reads is what is there."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from ppcfetch.adapters.clock import SystemClock
from ppcfetch.adapters.redis.connections import Connections, connect
from ppcfetch.adapters.redis.deliveries import RedisDeliveries
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.names import take_name
from ppcfetch.adapters.redis.pace import RedisPace
from ppcfetch.errors import ArchiveThrottled, NotFound
from ppcfetch.model.ad import AdFormat, ArchivePage, Query
from ppcfetch.model.egress import Permit
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Holder
from ppcfetch.model.operation import Action, Deed
from ppcfetch.model.outcome import RetryLater
from tests.contract.commands_rig import Commands
from tests.contract.database_rig import an_ad

LEASE = timedelta(minutes=1)
NOW = timedelta(0)


@pytest.fixture
def redis(redis_url: str) -> Iterator[Connections]:
    """Clients of the commands' Redis."""
    made = connect(redis_url, block=timedelta(seconds=2))
    yield made
    made.close()


def start_worker(redis: Connections, incarnation: int) -> Holder:
    """Let a name be borne, as a worker's is."""
    pool = Pool.INTERACTIVE
    return take_name(
        redis.rest, Keys(), host="host", pool=pool, incarnation=incarnation, lease=LEASE
    ).holder


def publish(redis: Connections, *jobs: int) -> None:
    """Ring for interactive jobs."""
    RedisDoorbell(redis.rest, Keys()).publish([(job, Pool.INTERACTIVE) for job in jobs])


def receive(redis: Connections, holder: Holder) -> None:
    """Let a consumer receive one message."""
    pool = Pool.INTERACTIVE
    consumer = RedisDeliveries(redis, Keys(), pool=pool, holder=holder, lease=LEASE)
    while not consumer.receive(1, NOW):
        continue


def test_a_job_in_line_says_how_many_are_ahead_of_it(
    commands: Commands, redis: Connections
) -> None:
    first, second = (commands.database.queued(name) for name in ("a.example", "b.example"))
    publish(redis, first, second)
    start_worker(redis, 1)

    (told,) = commands.json("explain", str(second))

    assert told["place"].startswith("waiting in the stream of interactive")
    assert (told["state"], told["why"]) == ("queued", ["1 ahead of it"])
    assert told["since"]


def test_a_job_in_hand_says_who_holds_it_and_that_all_is_well(
    commands: Commands, redis: Connections
) -> None:
    job_id = commands.database.queued()
    publish(redis, job_id)
    holder = start_worker(redis, commands.database.jobs.next_incarnation())
    receive(redis, holder)
    commands.database.lease(job_id, holder)

    (told,) = commands.json("explain", str(job_id))

    assert told["holder"] == f"host.interactive.1 (incarnation {holder.incarnation})"
    assert told["why"] == []
    assert 0 <= told["beat_age_seconds"] < 30
    assert "host.interactive.1" in told["place"]


def test_a_pause_and_a_pool_without_workers_are_both_named(
    commands: Commands, redis: Connections
) -> None:
    job_id = commands.database.queued()
    commands.database.pauses.pause(Pool.INTERACTIVE, Deed("ann", Action.PAUSE, "a look"))

    shown = commands.run("explain", str(job_id)).stdout

    assert "no worker of the pool interactive is alive" in shown
    assert "by ann: a look" in shown
    assert "next    start one: ppcfetch worker --pool interactive" in shown


def test_a_rest_of_the_archive_is_told(commands: Commands, redis: Connections) -> None:
    job_id = commands.database.queued()
    start_worker(redis, 1)
    lease = commands.database.lease(job_id)
    commands.database.jobs.settle([(lease, RetryLater(timedelta(minutes=1), "429"))])
    pace = RedisPace(
        redis.rest,
        Keys(),
        egresses=["direct"],
        rate_per_second=None,
        clock=SystemClock(),
        asker="host.bulk.1",
    )
    pace.went_badly(Permit("direct"), ArchiveThrottled("429", retry_after=timedelta(minutes=9)))

    (told,) = commands.json("explain", str(job_id))

    assert "not due until" in told["why"][0]
    assert "the archive rests until" in told["why"][0]


def test_a_domain_is_explained_by_all_jobs_of_its_active_fetch(
    commands: Commands, redis: Connections
) -> None:
    old = commands.database.ask("shop.example")
    commands.database.fetches.cancel(old.fetch.id)
    new = commands.database.ask("shop.example")
    second = commands.database.add_job(new.fetch.id)

    told = commands.json("explain", "www.shop.example")

    assert [one["job"] for one in told] == [new.jobs[0][0], second]
    assert {one["why"][-1] for one in told} == {"nothing rings for it yet"}


def test_a_domain_without_an_active_fetch_is_explained_by_its_newest_one(
    commands: Commands, redis: Connections
) -> None:
    asked = commands.database.ask("shop.example")
    commands.database.fetches.cancel(asked.fetch.id)

    (told,) = commands.json("explain", "shop.example")

    assert (told["state"], told["next"]) == ("cancelled", "it is over")


def test_without_redis_it_tells_what_the_rows_tell(commands: Commands, redis: Connections) -> None:
    job_id = commands.database.queued()
    commands.redis_url = "redis://127.0.0.1:1"

    (told,) = commands.json("explain", str(job_id))

    assert told["place"] == "unknown: Redis does not answer"
    assert told["state"] == "queued"


@pytest.mark.parametrize("what", ["0", "99999999999999999999"])
def test_a_number_that_no_job_can_have_is_a_wrong_argument(commands: Commands, what: str) -> None:
    assert commands.run("explain", what).exit_code == 2


@pytest.mark.parametrize("what", ["999", "never-asked.example"])
def test_what_is_not_there_is_not_explained(commands: Commands, what: str) -> None:
    result = commands.run("explain", what)

    assert isinstance(result.exception, NotFound)


def test_the_fetch_is_told_before_its_jobs(commands: Commands) -> None:
    asked = commands.database.ask()
    lease = commands.database.lease(asked.jobs[0][0])
    parts = [Query(asked.fetch.domain, format=one) for one in (AdFormat.TEXT, AdFormat.IMAGE)]
    commands.database.step(lease, ArchivePage((an_ad(1),), "more", None), parts)
    commands.database.run("UPDATE fetches SET shrunk = true")

    told = commands.run("explain", str(asked.fetch.domain)).stdout.splitlines()
    rows = commands.json("explain", str(lease.job.id))

    assert told[0].startswith(f"Fetch {asked.fetch.id}: active; a full walk, in 2 parts; ")
    assert told[1].startswith("Next to nothing was found")
    assert told[2] == f"Job {lease.job.id}: done"
    assert (rows[0]["fetch_state"], rows[0]["fetch_kind"], rows[0]["fetch_shrunk"]) == (
        "active",
        "a full walk, in 2 parts",
        True,
    )
