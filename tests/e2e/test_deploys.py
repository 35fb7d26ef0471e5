"""Deploys under load: each interrupts a running job, and none is noticed by anybody.

`DEPLOYS=20` for more than the five of every run.
"""

import os
import signal
from collections.abc import Iterator
from datetime import timedelta

import pytest
from redis import Redis

from ppcfetch.adapters.redis.census import RedisCensus
from ppcfetch.adapters.redis.keys import Keys
from tests.e2e.nursery import Nursery, nursery
from tests.e2e.plant import Plant, Process, assert_truth
from tests.waiting import wait_until

DEPLOYS = int(os.environ.get("DEPLOYS", "5"))
PAGES_A_DEPLOY = 25
TOP_UP = 1
LARGE = f"ads-{DEPLOYS * PAGES_A_DEPLOY * 100 + 350}.example"
SMALL = [f"ads-{number}.example" for number in range(1, DEPLOYS + 1)]
STREAM = "{ppcfetch}:interactive"

pytestmark = pytest.mark.timeout(120 * DEPLOYS)


@pytest.fixture(scope="module")
def born() -> Iterator[Nursery]:
    """Where workers of this module come from."""
    with nursery() as made:
        yield made


@pytest.fixture(autouse=True)
def _short_lives(plant: Plant, born: Nursery) -> None:
    plant.nursery = born
    plant.settings["PPCFETCH_LEASE_SECONDS"] = "1"
    plant.settings["PPCFETCH_SPLIT_ADS"] = "1000000"  # one job, which each deploy interrupts
    plant.behave(latency_ms=150)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_deploys_that_interrupt_a_running_job_lose_and_double_nothing(
    plant: Plant, number: signal.Signals
) -> None:
    """On one host the number of consumer names does not grow either."""
    visitor = plant.visitor()
    old = plant.start_worker(PPCFETCH_WORKER_NAME="machine")
    visitor.refresh(LARGE)

    for small in SMALL:
        visitor.refresh(small)
        old = deploy(plant, old, number)
    plant.behave(latency_ms=0)
    fetch = plant.wait_for_end(LARGE)

    pages = plant.query("SELECT page, fence FROM page_log WHERE job_id = 1 ORDER BY page")
    assert [row["page"] for row in pages] == list(range(1, fetch["pages"] - TOP_UP + 1))
    assert [row["fence"] for row in pages] == sorted(row["fence"] for row in pages)
    assert pages[-1]["fence"] > DEPLOYS
    for domain in (LARGE, *SMALL):
        plant.wait_for_end(domain)
        assert_truth(plant, domain)
    wait_until(lambda: plant.messages() == 0, describe="the stream is empty")
    # A killed process holds its name for a lease, so its successor may need a third one.
    assert len(names(plant)) <= (2 if number == signal.SIGTERM else 3)


def test_names_of_hosts_that_never_come_back_are_forgotten(plant: Plant) -> None:
    """As containers do, each deploy brings a new host name; idle for a day is a second here."""
    visitor = plant.visitor()
    old = plant.start_worker(PPCFETCH_WORKER_NAME="host-0")
    visitor.refresh(LARGE)
    for number in range(1, DEPLOYS + 1):
        old = deploy(plant, old, signal.SIGKILL, host=f"host-{number}")
    plant.behave(latency_ms=0)
    plant.wait_for_end(LARGE)
    before = names(plant)

    with Redis.from_url(plant.redis, protocol=2) as client:
        census = RedisCensus(client, Keys(), idle=timedelta(seconds=1))
        wait_until(
            lambda: census.forget_consumers() is not None and len(names(plant)) == 1,
            describe="only the living worker's name is left",
        )

    assert len(before) == DEPLOYS + 1
    assert names(plant) == {f"host-{DEPLOYS}.interactive.1"}
    assert_truth(plant, LARGE)


def deploy(plant: Plant, old: Process, number: signal.Signals, *, host: str = "machine") -> Process:
    """Start the new worker, then end the old one while a job is in its hands."""
    new = plant.start_worker(PPCFETCH_WORKER_NAME=host)
    before = plant.pages(LARGE)
    old.signal(number)
    wait_until(lambda: old.popen.poll() is not None, describe="the old worker has ended")
    wait_until(
        lambda: any(event["job"] == 1 for event in new.events("lease.taken")),
        describe=f"the new worker has the job; see {new.log}",
        timeout=20,
    )
    plant.wait_for_pages(LARGE, before + 2)
    return new


def names(plant: Plant) -> set[str]:
    """Give the consumer names that Redis knows."""
    with Redis.from_url(plant.redis, protocol=2) as client:
        return {one["name"].decode() for one in client.xinfo_consumers(STREAM, "workers")}
