"""How long somebody waits while bulk is full: one giant, hundreds of others, every slot busy."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles

import pytest

from ppcfetch.model.fetch import FetchReason
from tests.e2e.crowd import ask_for
from tests.e2e.plant import Plant
from tests.waiting import wait_until

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]

GIANT = "ads-2000000.example"
CROWD = 500
SLOTS = 4
JOBS = int(os.environ.get("FAIRNESS_JOBS", "100"))
LATENCY_MS = 100
LOOKS = 20
"""A slot between two jobs is free for a moment: so often it is looked at before it counts."""

BUSY = "SELECT count(*) FROM jobs WHERE pool = 'bulk' AND state = 'running'"
BACKLOG = "SELECT count(*) FROM jobs WHERE pool = 'bulk' AND state = 'queued'"
WAITED = """
SELECT extract(epoch FROM started_at - asked_at)::float8 AS seconds FROM fetches
WHERE id = ANY(%s) AND state = 'done' ORDER BY id
"""


@pytest.fixture
def plant(database_url: str, redis_url: str, tmp_path: Path) -> Iterator[Plant]:
    """Emulator, servers, and a worker of two slots for people, one of four for bulk."""
    made = Plant(tmp_path, database_url, redis_url)
    made.settings |= {"PPCFETCH_LEASE_SECONDS": "60", "PPCFETCH_SWEEP_SECONDS": "15"}
    try:
        made.start_archive()
        made.behave(latency_ms=LATENCY_MS)
        made.start_worker("interactive", threads=2)
        made.start_worker("bulk", threads=SLOTS)
        yield made
    finally:
        made.stop()


def test_fairness(plant: Plant) -> None:
    """Starts of interactive jobs, from request to lease, by the database clock."""
    alone, _ = one_after_another(plant, first=1)
    ask_for(plant, [GIANT], reason=FetchReason.IMPORT)
    crowd = [f"ads-{2000 + number}.example" for number in range(CROWD)]
    ask_for(plant, crowd, reason=FetchReason.IMPORT)
    wait_until(lambda: plant.one(BUSY) == SLOTS, describe="bulk is full", timeout=60)

    ids = ask_for(plant, ["ads-950.example"], reason=FetchReason.SCHEDULE)
    loaded, busy = one_after_another(plant, first=1 + JOBS)
    wait_until(lambda: plant.query(WAITED, ids), describe="the other's job is done", timeout=600)

    [row] = plant.query(WAITED, ids)
    still = plant.one("SELECT count(*) FROM fetches WHERE state = 'active' AND reason = 'import'")
    report(alone, loaded)
    print(
        f"fairness: the one bulk domain of another started after {row['seconds']:.2f} s, while"
        f" {still} of {CROWD + 1} still waited or ran; bulk was full in {busy.count(SLOTS)} of"
        f" {len(busy)} looks"
    )
    assert busy == [SLOTS] * JOBS
    assert plant.one(BACKLOG) > 0
    assert plant.one("SELECT state FROM fetches WHERE domain = %s", GIANT) == "active"
    assert still > CROWD // 2


def one_after_another(plant: Plant, *, first: int) -> tuple[list[float], list[int]]:
    """Ask for domains one by one; gives how long each waited, and how full bulk was meanwhile."""
    waited, busy = [], []
    for number in range(JOBS):
        ids = ask_for(plant, [f"ads-{first + number}.example"], reason=FetchReason.COMMAND)
        busy.append(fullest(plant))
        waited.append(seconds(plant, ids))
    return waited, busy


def fullest(plant: Plant) -> int:
    """Count the busy bulk slots, looking again while one is between two jobs."""
    counts: list[int] = []
    for _ in range(LOOKS):
        counts.append(int(plant.one(BUSY)))
        if counts[-1] >= SLOTS:
            break
    return max(counts)


def seconds(plant: Plant, ids: Sequence[int]) -> float:
    """Wait for the end of a fetch; gives how long it waited for its start."""
    [row] = wait_until(
        lambda: plant.query(WAITED, ids), describe="the fetch has ended", timeout=120
    )
    return float(row["seconds"])


def report(alone: Sequence[float], loaded: Sequence[float]) -> None:
    """Print both, and the difference that the goal is about."""
    (p50, p99), (p50_alone, p99_alone) = figures(loaded), figures(alone)
    print(
        f"\nfairness: an interactive job starts after p50 {p50 * 1000:.0f} ms, p99"
        f" {p99 * 1000:.0f} ms beside a giant and {CROWD} bulk fetches; without them p50"
        f" {p50_alone * 1000:.0f} ms, p99 {p99_alone * 1000:.0f} ms:"
        f" {(p99 - p99_alone) * 1000:+.0f} ms (goal: p99 at most 1,000 ms and +500 ms)"
    )


def figures(times: Sequence[float]) -> tuple[float, float]:
    """Give the median and the 99th percentile."""
    return median(times), quantiles(times, n=100, method="inclusive")[98]
