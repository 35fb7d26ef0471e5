"""Pausing a pool with real processes: at once, over restarts, and without losing anything."""

import json

from redis import Redis

from tests.e2e.plant import Plant, assert_truth
from tests.waiting import wait_until

DOMAIN = "ads-2350.example"
PAGES = 24
TOP_UPS = 2
"""One page behind each of the two walks, for what moved to the top meanwhile."""
LONG = {"PPCFETCH_LEASE_SECONDS": "60"}


def test_a_pause_in_the_middle_of_a_fetch_hands_it_back_and_a_resume_ends_it(plant: Plant) -> None:
    """No lease is taken while the pool is paused, and nothing is lost or doubled."""
    plant.behave(latency_ms=1500)  # the fetch takes much longer than a command to start
    plant.settings.update(LONG)
    worker = plant.start_worker()
    plant.run("fetch", DOMAIN)
    plant.wait_for_pages(DOMAIN, 2)

    code, told = plant.run("pause", "interactive", "--reason", "a look", "--json")
    wait_until(lambda: worker.events("job.handed_back"), describe="the job is handed back")
    plant.behave(latency_ms=0)
    pages = plant.pages(DOMAIN)
    plant.run("fetch", "ads-250.example")
    plant.start_worker()
    ends = plant.query("SELECT state, starts FROM jobs ORDER BY id")
    waiting = plant.messages()
    code_after, _ = plant.run("resume", "interactive")
    plant.wait_for_end(DOMAIN)
    plant.wait_for_end("ads-250.example")

    assert (code, json.loads(told)["paused"]["reason"], code_after) == (0, "a look", 0)
    assert pages < PAGES
    assert ends == [{"state": "queued", "starts": 0}] * 2
    assert waiting == 2
    for process in plant.processes:
        assert taken_while_paused(process.events("lease.taken", "pool.paused", "pool.resumed")) == 0
    assert plant.requests()["by_call"]["SearchCreatives"] == PAGES + 3 + TOP_UPS
    assert_truth(plant, DOMAIN)
    assert_truth(plant, "ads-250.example")
    wait_until(lambda: plant.messages() == 0, describe="the stream is empty")


def test_a_pause_outlives_a_redis_that_loses_everything(plant: Plant) -> None:
    """The pause is a row; the sweeper may publish again, but nobody takes it."""
    plant.run("pause", "interactive")
    worker = plant.start_worker()
    plant.run("fetch", DOMAIN)

    with Redis.from_url(plant.redis) as client:
        client.flushall()
    wait_until(lambda: worker.events("stream.rebuilt"), describe="the stream is rebuilt")
    wait_until(lambda: plant.messages() == 1, describe="the job is published again")

    assert worker.events("pool.paused")
    assert worker.events("lease.taken") == []
    plant.run("resume", "interactive")
    plant.wait_for_end(DOMAIN)


def test_the_other_pool_goes_on(plant: Plant) -> None:
    """A pause is of one pool."""
    plant.run("pause", "bulk")
    plant.start_worker()

    plant.run("fetch", "ads-250.example")

    plant.wait_for_end("ads-250.example")


def taken_while_paused(events: list[dict[str, object]]) -> int:
    """Count the leases that a process took between a pause and the next resume."""
    paused, taken = False, 0
    for event in events:
        if event["event"] == "lease.taken":
            taken += paused
        else:
            paused = event["event"] == "pool.paused"
    return taken
