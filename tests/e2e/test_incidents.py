"""The nights that other teams wrote up: what happened there must not be possible here."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta

import pytest
from redis import Redis

from ppcfetch.adapters.database.due import PostgresDue
from ppcfetch.adapters.redis.census import RedisCensus
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.bootstrap.parts import keeping, open_engine
from ppcfetch.bootstrap.site import SitePorts, open_site
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Holder
from ppcfetch.ports import Request
from ppcfetch.settings import Settings, load_settings
from ppcfetch.usecases.sweep import sweep
from tests.e2e.nursery import Nursery, nursery
from tests.e2e.plant import Plant, assert_truth
from tests.waiting import wait_until

STREAM = "{ppcfetch}:interactive"
LARGE = "ads-2350.example"
LARGE_PAGES = 24
TOP_UP = 1
JOBS = 103
ROUNDS = 10

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def born() -> Iterator[Nursery]:
    """Where workers of this module come from."""
    with nursery() as made:
        yield made


@pytest.fixture
def settings(plant: Plant, born: Nursery) -> Settings:
    """Settings with a lease of a second, also for the workers of the plant."""
    plant.nursery = born
    plant.settings["PPCFETCH_LEASE_SECONDS"] = "1"
    return load_settings(database_url=plant.database, redis_url=plant.redis, window=2 * JOBS)


@pytest.fixture
def site(settings: Settings) -> Iterator[SitePorts]:
    """What the site does when somebody asks, without the site."""
    with open_site(settings, threads=1) as ports:
        yield ports


def ask(site: SitePorts, domain: str, reason: FetchReason = FetchReason.PERSON) -> None:
    """Ask for a domain as a person does."""
    site.request_refresh(Request(DomainName.parse(domain), reason))


def walk_of(plant: Plant, domain: str) -> int:
    """Give the id of the job that walks; another one looks at the top again behind it."""
    return int(plant.one("SELECT id FROM jobs WHERE domain = %s AND kind = 'walk'", domain))


def test_a_job_of_twenty_leases_runs_once_and_delays_nobody(plant: Plant, site: SitePorts) -> None:
    """The fourteen-hour night: no healthy worker is rescued from its own job."""
    plant.behave(latency_ms=900)
    first, second = plant.start_worker(), plant.start_worker()
    ask(site, LARGE)
    for number in range(1, 6):
        plant.wait_for_pages(LARGE, number * 4)
        ask(site, f"ads-{number}.example")
    plant.wait_for_end(LARGE)

    taken = [e for worker in (first, second) for e in worker.events("lease.taken")]
    assert [event["fence"] for event in taken if event["job"] == walk_of(plant, LARGE)] == [1]
    (run,) = plant.query(
        "SELECT extract(epoch FROM max(written_at) - min(j.taken_at)) AS seconds,"
        " count(DISTINCT l.holder) AS holders"
        " FROM page_log l JOIN jobs j ON j.id = l.job_id WHERE j.id = %s",
        walk_of(plant, LARGE),
    )
    assert run["holders"] == 1
    assert run["seconds"] >= 20
    late = plant.query(
        "SELECT domain, taken_at - created_at AS waited FROM jobs"
        " WHERE taken_at - created_at > interval '1 second'"
    )
    assert late == []
    assert plant.one("SELECT count(*) FROM fetches WHERE state = 'done'") == 6
    assert_truth(plant, LARGE)


def test_the_interactive_budget_sends_the_rest_to_the_bulk_pool(
    plant: Plant, site: SitePorts
) -> None:
    """Nobody who waits is held up by one domain longer than that."""
    plant.settings["PPCFETCH_INTERACTIVE_PAGES"] = "3"
    interactive, bulk = plant.start_worker(threads=1), plant.start_worker("bulk", threads=1)

    ask(site, LARGE)
    plant.wait_for_end(LARGE)

    assert [event["pages"] for event in interactive.events("job.spilled")] == [3]
    assert [event["page"] for event in bulk.events("lease.taken")] == [3, 0]
    rows = plant.query("SELECT page, holder FROM page_log ORDER BY job_id, page")
    pools = [row["holder"].split(".")[1] for row in rows]
    assert pools == ["interactive"] * 3 + ["bulk"] * (LARGE_PAGES - 3 + TOP_UP)
    assert plant.one("SELECT max(starts) FROM jobs") == 0
    assert_truth(plant, LARGE)


def test_a_handler_that_hangs_loses_its_lease_though_its_heart_beats(
    plant: Plant, site: SitePorts
) -> None:
    """Renewal depends on progress; the process leaves, with its stacks in the log."""
    plant.behave(latency_ms=20_000)
    plant.settings["PPCFETCH_STALL_SECONDS"] = "1.5"
    hung = plant.start_worker()
    ask(site, "ads-250.example")

    code = hung.wait(20)
    plant.behave(latency_ms=0)
    plant.start_worker()
    plant.wait_for_end("ads-250.example")

    assert code == 70
    assert hung.events("handler.stuck")
    assert "most recent call first" in hung.log.read_text()
    assert plant.query("SELECT DISTINCT fence FROM page_log WHERE job_id = 1") == [{"fence": 2}]
    assert_truth(plant, "ads-250.example")


def test_ten_rounds_of_healing_over_a_queue_without_workers_add_no_message(
    plant: Plant, site: SitePorts, settings: Settings
) -> None:
    """The healer that fed itself; then messages are really gone, and one round finds each."""
    domains = [f"ads-{number}.example" for number in range(1, JOBS + 1)]
    for domain in domains:
        ask(site, domain)

    with ExitStack() as stack, Redis.from_url(plant.redis, protocol=2) as client:
        engine = open_engine(stack, plant.database, "test", size=1)
        due = PostgresDue(engine, settings.limits, keeping(settings), settings.admission)

        def heal() -> int:
            report = sweep(
                Holder("test", 1),
                due=due,
                doorbell=RedisDoorbell(client, Keys()),
                census=RedisCensus(client, Keys()),
                turn=timedelta(seconds=5),
            )
            assert report
            return report.published

        healed = [heal() for _ in range(ROUNDS)]
        lengths = [client.xlen(STREAM)]
        client.xtrim(STREAM, maxlen=50, approximate=False)
        found = [heal()]
        client.delete(STREAM)
        found.append(heal())
        client.flushall()
        heal()
        lengths.append(client.xlen(STREAM))

    assert healed == [0] * ROUNDS
    assert found == [JOBS - 50, JOBS]
    assert lengths == [JOBS, JOBS]


def test_gone_messages_are_found_by_workers_within_one_sweep(plant: Plant, site: SitePorts) -> None:
    """Every job runs once, none was lost by the stream and none runs twice."""
    for number in range(1, JOBS + 1):
        ask(site, f"ads-{number}.example")
    with Redis.from_url(plant.redis) as client:
        client.xtrim(STREAM, maxlen=10, approximate=False)

    plant.start_worker(threads=4)
    wait_until(
        lambda: plant.one("SELECT count(*) FROM fetches WHERE state = 'done'") == JOBS,
        describe="all have been fetched",
        timeout=60,
    )

    assert plant.one("SELECT max(fence) FROM jobs") == 1
    assert plant.one("SELECT count(*) FROM jobs WHERE pool <> %s", Pool.INTERACTIVE.value) == 0
    wait_until(lambda: plant.messages() == 0, describe="the stream is empty")
