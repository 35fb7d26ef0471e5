"""Play many schedules, several at once, and put their figures together."""

import shutil
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from tempfile import mkdtemp
from typing import Any

from tests.e2e.chaos.books import Figures, most_leases
from tests.e2e.chaos.lanes import Lane, lanes
from tests.e2e.chaos.run import Failed, play

FEWEST_REFUSED = 5
"""A run with fewer stale writes would have proven nothing."""
FEWEST_SCHEDULES = 10
"""So many have to meet that many; fewer schedules have to meet one."""

Tell = Callable[[str], None]


@dataclass
class Outcome:
    """What became of the schedules so far.

    Shape: failed has the words of each that went wrong, late those of each that was played again.
    """

    together: Figures = field(default_factory=Figures)
    failed: dict[int, str] = field(default_factory=dict)
    late: dict[int, str] = field(default_factory=dict)

    def faults(self) -> list[str]:
        """Give what is wrong with the run as a whole; empty when nothing is."""
        figures, wrong = self.together, list(self.failed.values())
        if (figures.lost, figures.doubled) != (0, 0):
            wrong.append(f"{figures.lost} lost and {figures.doubled} doubled")
        fewest = FEWEST_REFUSED if figures.schedules >= FEWEST_SCHEDULES else 1
        if figures.stale_writes_refused < fewest:
            refused = figures.stale_writes_refused
            wrong.append(f"only {refused} stale writes came up, not {fewest}: this proved nothing")
        return wrong

    def shown(self) -> dict[str, Any]:
        """Give all figures, the recoveries of late schedules as they were the first time."""
        return {**self.together.shown(), "failed_seeds": list(self.failed), "late": self.late}


def play_many(
    seeds: Iterable[int],
    *,
    at_once: int,
    tell: Tell,
    keep: Callable[[Outcome], None] = lambda _outcome: None,
) -> Outcome:
    """Play the schedule of each seed and tell of each; one that fails keeps its folder.

    One after which work went on too late is played once more at the end, by itself: a loaded
    machine lets it pass then, a fault does not. Nothing else has a second try.
    """
    outcome = Outcome()
    late: dict[int, Figures] = {}
    with lanes(at_once) as free, ThreadPoolExecutor(at_once) as pool:
        for seed, figures, why in pool.map(lambda seed: _play(seed, free), seeds):
            if figures is None:
                outcome.failed[seed] = why
            else:
                outcome.together.add(figures)
                late |= {seed: figures} if figures.late() else {}
            tell(f"schedule {seed}: {why or figures}")
            keep(outcome)
        for seed, first in late.items():
            outcome.late[seed], fails = _again(seed, first, free)
            if fails:
                outcome.failed[seed] = outcome.late[seed]
            tell(outcome.late[seed])
            keep(outcome)
    return outcome


def _again(seed: int, first: Figures, free: "SimpleQueue[Lane]") -> tuple[str, bool]:
    words = f"schedule {seed} was late: {_recovered(first)}; played again"
    _, figures, why = _play(seed, free)
    if figures is None:
        return f"{words} it failed: {why}", True
    return f"{words} by itself: {_recovered(figures)}", figures.late()


def _recovered(figures: Figures) -> str:
    pairs = zip(figures.recoveries, figures.slowdowns, strict=True)
    told = (f"{leases} leases, of at most {most_leases(slower):.1f}" for leases, slower in pairs)
    return ", ".join(told) or "nothing had to go on"


def _play(seed: int, free: "SimpleQueue[Lane]") -> tuple[int, Figures | None, str]:
    folder = Path(mkdtemp(prefix=f"chaos-{seed}-"))
    lane = free.get()
    try:
        figures = play(seed, folder=folder, lane=lane)
    except Failed as wrong:
        return seed, None, f"{wrong}\n  its logs: {folder}"
    except Exception:  # noqa: BLE001 - the other schedules go on, and all are reported together
        return seed, None, f"{traceback.format_exc(limit=-5)}\n  its logs: {folder}"
    finally:
        free.put(lane)
    shutil.rmtree(folder, ignore_errors=True)
    return seed, figures, ""
