"""What simulated runs asked of the servers in memory is asked of real ones: the same replies."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from tests.contract.database_rig import RealRig as RealRows
from tests.contract.recorded_rows import RowsPlayer, calls_of
from tests.contract.recorded_steps import NOT_COMPARED, StepsPlayer, steps_of
from tests.contract.stream_rig import RealRig as RealStreams
from tests.contract.test_jobs_laws import timeless
from tests.simulation.run import quiet_logs
from tests.simulation.wires import Call

TRIES = 4
SEEDS = (5, 9, 15, 21)
"""Runs with claims, dead letters, moves and losses in them."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with quiet_logs():
        yield


@pytest.fixture
def streams(real_redis_url: str) -> Iterator[RealStreams]:
    """The stream ports on each real server."""
    rig = RealStreams(real_redis_url)
    rig.census.ensure_groups()
    yield rig
    rig.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_real_database_answers_a_simulated_run_alike(postgres: RealRows, seed: int) -> None:
    world, calls = calls_of(seed)
    difference, was_too_slow = None, True

    for _ in range(TRIES):
        if was_too_slow:
            # Times were not those of the run when the machine was busy elsewhere.
            postgres.empty()
            player = RowsPlayer(postgres, world.limits)
            difference = first_difference(player, calls)
            was_too_slow = difference is not None and player.was_too_slow

    assert difference is None, f"seed {seed}: {difference}"
    kinds = {call.name for call in calls}
    assert {"take", "write_page", "beat", "request", "unrung", "take_turn"} <= kinds


def first_difference(player: RowsPlayer, calls: Sequence[Call]) -> str | None:
    """Say which call is answered otherwise, and how; None when none is."""
    for number, call in enumerate(calls):
        real = player.play(call)
        if timeless(real) != timeless(call.reply):
            asked = f"call {number}, {call.name}{call.args} at {call.at:.2f} s"
            return f"{asked}: {real} and not {call.reply}"
    return None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_real_redis_answers_a_simulated_run_alike(streams: RealStreams, seed: int) -> None:
    world, steps = steps_of(seed)
    player = StepsPlayer(streams, world.limits)
    kinds: Counter[str] = Counter()

    for number, step in enumerate(steps):
        expected, real = player.play(step)
        kinds[step.call.name] += 1
        if step.call.name not in NOT_COMPARED:
            said = f"step {number} of seed {seed}: {step.call.name}{step.call.args}"
            assert real == expected, said

    assert {"receive", "accept", "settle", "publish", "take_name", "keep"} <= kinds.keys()
