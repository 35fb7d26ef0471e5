"""Run seeds, one after the other, and sum up what they met."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog

from ppcfetch.model.fetch import FetchKind
from ppcfetch.model.job import JobKind, JobState
from tests.simulation.ledger import Ledger
from tests.simulation.world import World


@dataclass
class Summary:
    """What a number of seeds met. Units: slowest is in leases."""

    seeds: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    hits: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    unclear: int = 0
    pages: int = 0
    starts: int = 0
    refused_writes: int = 0
    steps: int = 0
    slowest: float = 0.0
    walks: Counter[str] = field(default_factory=Counter)
    broken: dict[int, list[str]] = field(default_factory=dict)

    def add(self, world: World, ledger: Ledger) -> None:
        """Count one more seed."""
        self.seeds += 1
        self.faults += ledger.faults
        self.hits += ledger.hits
        self.acknowledged += len(ledger.acknowledged)
        self.unclear += ledger.unclear
        self.pages += sum(ledger.commits.values())
        self.starts += sum(ledger.starts.values())
        self.refused_writes += ledger.refused_writes
        self.steps += world.scheduler.steps
        self.walks += walks_of(world, ledger)
        self.slowest = max(self.slowest, ledger.slowest)
        if ledger.violations:
            self.broken[world.seed] = [*ledger.violations, *world.story]

    def figures(self) -> dict[str, Any]:
        """Give the figures that are published."""
        broken = [line for lines in self.broken.values() for line in lines]
        return {
            "seeds": self.seeds,
            "faults": dict(sorted(self.faults.items())),
            "faults_in_flight": dict(sorted(self.hits.items())),
            "kills": sum(self.faults[kind] for kind in ("kill", "stop and kill", "poison")),
            "pauses": self.faults["pause"],
            "stale_writes_refused": self.refused_writes,
            "acknowledged": self.acknowledged,
            "unclear": self.unclear,
            "pages": self.pages,
            "starts": self.starts,
            "steps": self.steps,
            "walks": dict(sorted(self.walks.items())),
            "lost": sum(line.startswith(("I1:", "I4")) for line in broken),
            "doubled": sum(line.startswith(("I2", "I3")) for line in broken),
            "slowest_recovery_in_leases": self.slowest,
            "broken": self.broken,
        }


def walks_of(world: World, ledger: Ledger) -> Counter[str]:
    """Count what a run had of each kind of walk, and of ends that were held against the archive."""
    database = world.database
    fetches, rows = database.fetches.values(), database.jobs.values()
    parts = [row for row in rows if row.parent_id is not None]
    return Counter(
        parts=len(parts),
        dead_parts=sum(row.job.state is JobState.DEAD for row in parts),
        windows=sum(row.job.query.first_day is not None for row in rows),
        top_ups=sum(row.job.kind is JobKind.TOP_UP for row in rows),
        refreshes=sum(one.kind is FetchKind.REFRESH for one in fetches),
        out_of_order=sum(not one.in_order for one in fetches),
        complete=ledger.complete,
    )


def run_seeds(seeds: Iterable[int], *, most_broken: int = 3) -> Summary:
    """Run seeds until they are through or so many have broken a promise."""
    summary = Summary()
    with quiet_logs():
        for seed in seeds:
            world = World(seed)
            summary.add(world, world.run())
            if len(summary.broken) >= most_broken:
                break
    return summary


def explain(summary: Summary) -> str:
    """Say which seeds broke what, what had gone wrong in them, and how to see it again."""
    return "\n".join(
        line
        for seed, lines in summary.broken.items()
        for line in ("", f"seed {seed}; replay it: make simulate SEED={seed}", *lines)
    )


@contextmanager
def quiet_logs() -> Iterator[None]:
    """Let the product's logs cost next to nothing meanwhile."""
    before = structlog.get_config()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL),
        cache_logger_on_first_use=False,
    )
    try:
        yield
    finally:
        structlog.configure(**before)
