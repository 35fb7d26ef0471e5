"""Random faults on real servers and four workers, then quiet: nothing lost, nothing doubled.

`CHAOS=100` plays more schedules than those of every run, `CHAOS_FIRST=17` others.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.chaos.books import Figures
from tests.e2e.chaos.faults import schedule
from tests.e2e.chaos.run import ARCHIVE_LATENCY_MS, play
from tests.e2e.nursery import nursery
from tests.e2e.plant import Plant
from tests.servers import Databases

SCHEDULES = int(os.environ.get("CHAOS", "4"))
FIRST = int(os.environ.get("CHAOS_FIRST", "0"))
FEWEST_REFUSED = 5 if SCHEDULES >= 10 else 1


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[str]:
    """The address of an emulator that takes its time."""
    plant = Plant(tmp_path, "", "")
    try:
        plant.start_archive()
        plant.behave(latency_ms=ARCHIVE_LATENCY_MS)
        yield plant.archive
    finally:
        plant.stop()


@pytest.mark.timeout(120 * SCHEDULES)
def test_random_faults_on_real_servers_lose_and_double_nothing(
    databases: Databases, archive: str, tmp_path: Path
) -> None:
    """And workers that were late have tried to write: else it would prove nothing."""
    together = Figures()

    with nursery() as born:
        for seed in range(FIRST, FIRST + SCHEDULES):
            own = tmp_path / str(seed)
            own.mkdir()
            figures = play(seed, folder=own, databases=databases, nursery=born, archive=archive)
            together.add(figures)

    assert (together.lost, together.doubled) == (0, 0)
    assert together.schedules == SCHEDULES
    assert together.stale_writes_refused >= FEWEST_REFUSED


def test_a_seed_gives_the_same_schedule_again() -> None:
    """So that a failure can be looked at."""
    first, again, other = ([(e.at, e.kind) for e in schedule(seed)] for seed in (3, 3, 4))

    assert first == again
    assert first != other
