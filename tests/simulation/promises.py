"""What must hold for a range of seeds; each `test_…_seeds.py` holds its own range against it.

Two files, so that two test processes share the work.
"""

import random

import pytest

from tests.simulation.faults import KINDS
from tests.simulation.run import Summary, explain, run_seeds
from tests.simulation.world import World

ALL_SEEDS = range(2000)
LEAST_HITS = 5


@pytest.fixture(scope="module")
def summary(request: pytest.FixtureRequest) -> Summary:
    """What the module's seeds met."""
    return run_seeds(request.module.SEEDS)


@pytest.mark.timeout(900)
def test_no_order_of_events_breaks_a_promise(summary: Summary) -> None:
    assert not summary.broken, explain(summary)


@pytest.mark.timeout(900)
def test_every_kind_of_fault_met_work_in_flight(summary: Summary) -> None:
    kinds = [*KINDS, "clog", "poison", "egress broken"]
    rare = {kind: hits for kind in kinds if (hits := summary.hits[kind]) < LEAST_HITS}

    assert rare == {}


@pytest.mark.timeout(900)
def test_sleepers_did_try_to_write(summary: Summary) -> None:
    """Otherwise nothing was shown about the fence."""
    assert summary.refused_writes >= LEAST_HITS


@pytest.mark.timeout(900)
def test_walks_were_split_topped_up_and_refreshed_and_held_against_the_archive(
    summary: Summary,
) -> None:
    """Otherwise nothing was shown about them."""
    kinds = ("parts", "dead_parts", "windows", "top_ups", "refreshes", "out_of_order", "complete")

    assert {kind: summary.walks[kind] for kind in kinds if summary.walks[kind] < LEAST_HITS} == {}


@pytest.mark.timeout(900)
def test_most_of_what_was_asked_for_was_read_to_its_end(summary: Summary) -> None:
    assert summary.acknowledged > 2 * summary.seeds
    assert summary.pages > 5 * summary.seeds


def test_a_seed_always_tells_the_same_story(request: pytest.FixtureRequest) -> None:
    seed = random.Random(request.module.__name__).choice(request.module.SEEDS)
    first, second = World(seed), World(seed)

    first.run()
    second.run()

    assert first.story
    assert second.story == first.story
    assert second.scheduler.steps == first.scheduler.steps
