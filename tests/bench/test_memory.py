"""A worker's peak of memory does not grow with the domain that it fetches."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.plant import Plant, Process

FEW, MANY = 5_000, 200_000
MOST_MIB = 150
MINUTES = 20
UNSPLIT = str(10 * MANY)


@pytest.fixture
def plant(database_url: str, redis_url: str, tmp_path: Path) -> Iterator[Plant]:
    """Give an emulated archive and servers; the one worker of each fetch walks all of it."""
    made = Plant(tmp_path, database_url, redis_url, settings={"PPCFETCH_SPLIT_ADS": UNSPLIT})
    try:
        made.start_archive()
        yield made
    finally:
        made.stop()


def test_the_peak_over_many_ads_against_the_peak_over_few(plant: Plant) -> None:
    few, many = (peak_of_fetching(plant, ads) for ads in (FEW, MANY))

    print(
        f"\nmemory: {many / few:.2f} times over {MANY:,} ads what it is over {FEW:,}"
        f" ({many:.1f} against {few:.1f} MiB; at most {MOST_MIB} MiB)"
    )
    assert plant.one("SELECT count(*) FROM ads") == FEW + MANY


def peak_of_fetching(plant: Plant, ads: int) -> float:
    """Let a new worker fetch a domain of so many ads alone; gives its peak in MiB."""
    domain = f"ads-{ads}.example"
    worker = plant.start_worker()
    fetching = plant.command("fetch", domain, "--wait")
    assert fetching.wait(MINUTES * 60) == 0, fetching.log.read_text()
    peak = high_water(worker)
    worker.signal(signal.SIGTERM)
    worker.wait()
    return peak


def high_water(worker: Process) -> float:
    """Give the most memory that a process ever held at once, in MiB."""
    lines = Path(f"/proc/{worker.popen.pid}/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024
