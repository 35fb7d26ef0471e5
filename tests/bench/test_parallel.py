"""How much sooner a huge domain is read in parts, eight at a time, than in one walk."""

import os
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import pytest

from tests.e2e.plant import Plant
from tests.waiting import wait_until

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]

ADS = int(os.environ.get("PARALLEL_ADS", "200000"))
LATENCY_MS = 100
WALKS = 8
NEVER = str(10**9)
LONGEST_SECONDS = 900


@pytest.fixture
def plant(database_url: str, redis_url: str, tmp_path: Path) -> Iterator[Plant]:
    """Emulator and servers; the bench starts its workers itself."""
    made = Plant(tmp_path, database_url, redis_url)
    # No lease may lapse because the machine is busy.
    made.settings["PPCFETCH_LEASE_SECONDS"] = "60"
    try:
        made.start_archive()
        made.behave(date_window="last_shown", latency_ms=LATENCY_MS)
        yield made
    finally:
        made.stop()


def test_parallel(plant: Plant) -> None:
    """A fetch from its request to its end, the top up included."""
    one, pages = seconds(plant, f"ads-{ADS}.example", NEVER)
    parts, _ = seconds(plant, f"ads-{ADS - 1}.example", str(ADS // 10))

    walks = plant.one("SELECT count(*) FROM jobs WHERE parent_id IS NOT NULL")
    print(
        f"\nparallel: {ADS:,} ads at {LATENCY_MS} ms a page: one walk {one:.1f} s, {WALKS} at once"
        f" {parts:.1f} s: {one / parts:.2f} times as fast ({walks} parts; the floor of one walk,"
        f" latency alone, is {pages * LATENCY_MS / 1000:.0f} s, ideal {WALKS} times)"
    )
    assert walks >= WALKS
    assert parts < one


def seconds(plant: Plant, domain: str, split_at: str) -> tuple[float, int]:
    """Give how long a domain's fetch takes, and how many pages it stored."""
    workers = [
        plant.start_worker("bulk", threads=WALKS // 2, PPCFETCH_SPLIT_ADS=split_at),
        plant.start_worker("bulk", threads=WALKS // 2, PPCFETCH_SPLIT_ADS=split_at),
        plant.start_worker("interactive", threads=1, PPCFETCH_SPLIT_ADS=split_at),
    ]
    begun = perf_counter()
    plant.command("fetch", domain)
    statement = "SELECT pages FROM fetches WHERE domain = %s AND state = 'done'"
    done = wait_until(
        lambda: plant.query(statement, domain),
        describe=f"{domain} has been read",
        timeout=LONGEST_SECONDS,
    )
    took = perf_counter() - begun
    for worker in workers:
        worker.kill()
    assert plant.one("SELECT found FROM fetches WHERE domain = %s", domain) > ADS * 0.99
    return took, int(done[0]["pages"])
