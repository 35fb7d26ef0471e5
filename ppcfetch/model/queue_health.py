"""What a doctor finds in the queue: who works, who sweeps, what waits and what died."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from ppcfetch.model.health import Finding, Verdict
from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Pause

NOTHING = timedelta(0)


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """What rows and stream tell of one pool.

    Shape: oldest is how long the oldest due job has waited, None when none is due; workers
    counts the processes that bear a name; orphans are messages that nobody will be given.
    """

    pool: Pool
    due: int
    running: int
    oldest: timedelta | None
    dead: int
    workers: int
    has_group: bool
    orphans: int
    pause: Pause | None = None


@dataclass(frozen=True, slots=True)
class SweeperTurn:
    """Whose turn it is to sweep. Units: left is negative by how long ago it ran out."""

    holder: str
    left: timedelta


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """What the doctor looks at when both servers are fit.

    Shape: sweeper is None when nobody ever swept.
    Units: patience is how long a due job may wait while workers run.
    """

    pools: tuple[PoolFacts, ...]
    sweeper: SweeperTurn | None
    patience: timedelta


def findings_of_queue(facts: QueueFacts) -> Iterator[Finding]:
    """Judge the queue; nothing here keeps a process from working."""
    for pool in facts.pools:
        yield _workers(pool, facts.patience)
        yield _group(pool)
    yield _sweeper(facts.sweeper)
    yield _dead(sum(pool.dead for pool in facts.pools))


def _workers(facts: PoolFacts, patience: timedelta) -> Finding:
    pool, check = facts.pool, f"pool {facts.pool}"
    state = f"workers: {facts.workers}, jobs due: {facts.due:,}, running: {facts.running:,}"
    if facts.pause is not None:
        why = f": {facts.pause.reason}" if facts.pause.reason else ""
        since = f"{facts.pause.since:%Y-%m-%d %H:%M} UTC by {facts.pause.by}{why}"
        advice = f"when it may go on: ppcfetch resume {pool}"
        return Finding(check, Verdict.WARN, f"paused since {since}; {state}", advice)
    if not facts.workers:
        advice = f"start one: ppcfetch worker --pool {pool}"
        return Finding(check, Verdict.WARN, f"no worker is alive; {state}", advice)
    if facts.oldest is not None and facts.oldest > patience:
        waits = f"{state}; the oldest waits for {facts.oldest.total_seconds():,.0f} s"
        advice = (
            f"see why (ppcfetch jobs --pool {pool}, ppcfetch explain JOB), or start more workers"
        )
        return Finding(check, Verdict.WARN, waits, advice)
    return Finding(check, Verdict.GOOD, state)


def _group(facts: PoolFacts) -> Finding:
    check = f"stream {facts.pool}"
    if not facts.has_group:
        advice = f"nothing, if a worker is running: it makes the group at 0 (pool {facts.pool})"
        return Finding(check, Verdict.WARN, "has no consumer group", advice)
    if facts.orphans:
        return Finding(
            check,
            Verdict.WARN,
            f"{facts.orphans:,} messages lie behind the group in nobody's hand: it was not made at"
            " 0, or a consumer was deleted with what it held",
            "nothing, if a worker is running: a sweep deletes them and publishes their jobs again",
        )
    return Finding(check, Verdict.GOOD, "its group has left nothing out")


def _sweeper(turn: SweeperTurn | None) -> Finding:
    advice = "start a worker of any pool: without one nothing is published again"
    if turn is None:
        return Finding("sweeper", Verdict.WARN, "nobody has swept yet", advice)
    if turn.left <= NOTHING:
        ago = f"{(-turn.left).total_seconds():,.0f} s ago"
        text = f"the turn of {turn.holder}, the last to sweep, ran out {ago}"
        return Finding("sweeper", Verdict.WARN, text, advice)
    return Finding("sweeper", Verdict.GOOD, f"{turn.holder} has the turn")


def _dead(count: int) -> Finding:
    if not count:
        return Finding("dead jobs", Verdict.GOOD, "none")
    advice = "ppcfetch dead list, then dead retry JOB or dead discard JOB"
    return Finding("dead jobs", Verdict.WARN, f"{count:,} need a person", advice)
