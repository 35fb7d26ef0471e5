"""Random faults on real servers and four workers, then quiet: nothing lost, nothing doubled.

`CHAOS=100` plays more schedules than those of every run, `CHAOS_FIRST=17` others.
"""

import os
import sys

import pytest

from tests.e2e.chaos.books import Figures
from tests.e2e.chaos.faults import FAULTS, schedule
from tests.e2e.chaos.lanes import AT_ONCE
from tests.e2e.chaos.many import Outcome, play_many

SCHEDULES = int(os.environ.get("CHAOS", "30"))
FIRST = int(os.environ.get("CHAOS_FIRST", "0"))


@pytest.mark.timeout(60 * max(SCHEDULES, 4))
def test_random_faults_on_real_servers_lose_and_double_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And workers that were late have tried to write: else it would prove nothing."""
    seeds = range(FIRST, FIRST + SCHEDULES)

    outcome = play_many(seeds, at_once=AT_ONCE, tell=lambda _line: None)

    with capsys.disabled():
        for words in outcome.late.values():
            sys.stderr.write(f"\n{words}\n")
    assert outcome.faults() == []
    assert outcome.together.schedules == SCHEDULES


def test_a_run_without_late_writers_proves_nothing() -> None:
    few, enough = (
        Outcome(Figures(schedules=30, stale_writes_refused=refused)) for refused in (4, 5)
    )

    assert few.faults() == ["only 4 stale writes came up, not 5: this proved nothing"]
    assert enough.faults() == []


def test_the_schedules_of_every_run_draw_every_kind_of_fault() -> None:
    drawn = {event.kind for seed in range(30) for event in schedule(seed)}

    assert len(FAULTS) <= 30
    assert drawn == {"", "database link of the busiest worker stalls", *FAULTS}


def test_a_seed_gives_the_same_schedule_again() -> None:
    """So that a failure can be looked at."""
    first, again, other = ([(e.at, e.kind) for e in schedule(seed)] for seed in (3, 3, 4))

    assert first == again
    assert first != other
