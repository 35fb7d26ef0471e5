"""What must hold when it is quiet again, read from the servers and compared with the archive."""

from dataclasses import asdict, dataclass, field
from math import ceil
from statistics import median
from time import monotonic
from typing import Any

import psycopg
from sqlalchemy import create_engine

from tests.contract.recount import drift
from tests.e2e.chaos.cores import shares, slowdown
from tests.e2e.chaos.stage import LEASE_SECONDS, Stage
from tests.servers import libpq
from tests.waiting import wait_until

REFUSED_WRITES = ("no longer held under fence", "before the outcome was written")
ACTIVE = """
SELECT j.id, j.state, j.pages, j.fence,
    greatest(0, extract(epoch FROM j.due_at - clock_timestamp()))::float AS due_in
FROM jobs j WHERE state IN ('queued', 'running')
"""
LOGGED = "SELECT job_id, page, fence, cursor_in, cursor_out FROM page_log ORDER BY 1, 2"
UNENDED = "SELECT id FROM fetches WHERE state = 'active'"
IDLE = """
SELECT pid, query FROM pg_stat_activity
WHERE datname = current_database() AND state LIKE 'idle in transaction%%'
"""
LONGEST_END_SECONDS = 120.0
MOST_SHOWN = 500
MOST_LEASES = 3.0
"""So long after the last fault each job has to go on, where nobody waits for a core."""
LEASES_OF_WORK = 1.0
"""So much of it is work, which takes longer by as much as workers wait; the rest is waiting."""


@dataclass
class Figures:
    """What happened in a schedule, or in several together."""

    schedules: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    acknowledged: int = 0
    unclear: int = 0
    pages: int = 0
    leases: int = 0
    spills: int = 0
    stale_writes_refused: int = 0
    lost: int = 0
    doubled: int = 0
    active_at_quiet: int = 0
    recoveries: list[float] = field(default_factory=list)
    slowdowns: list[float] = field(default_factory=list)

    def add(self, other: "Figures") -> None:
        """Take the figures of another schedule along."""
        for name, value in asdict(other).items():
            mine = getattr(self, name)
            if isinstance(value, dict):
                for kind, count in value.items():
                    mine[kind] = mine.get(kind, 0) + count
            else:
                setattr(self, name, mine + value)

    def late(self) -> bool:
        """Tell whether a job went on too late, for a machine as busy as it was at that time."""
        return any(
            leases > most_leases(slower)
            for leases, slower in zip(self.recoveries, self.slowdowns, strict=True)
        )

    def shown(self) -> dict[str, Any]:
        """Give all figures, the recoveries by their median, 95th percentile and slowest."""
        figures = asdict(self)
        del figures["slowdowns"]
        recoveries = sorted(figures.pop("recoveries")) or [0.0]
        return {
            **figures,
            "median_recovery_leases": round(median(recoveries), 2),
            "recovery_leases_95th": recoveries[ceil(len(recoveries) * 0.95) - 1],
            "slowest_recovery_leases": recoveries[-1],
            "recoveries_over_3_leases": sum(leases > MOST_LEASES for leases in recoveries),
            "median_slowdown": round(median(self.slowdowns or [1.0]), 2),
        }


def most_leases(slower: float) -> float:
    """Give in how many leases work has to go on where it takes so many times longer."""
    return MOST_LEASES + LEASES_OF_WORK * (slower - 1)


def recovery(stage: Stage, figures: Figures) -> None:
    """Wait until every job that was active made progress; note in how many leases, once due."""
    with _connected(stage) as connection:
        began, slowest = monotonic(), 0.0
        shared = shares(stage.workers())
        waiting = {row["id"]: row for row in connection.execute(ACTIVE)}
        due = {job: began + row["due_in"] for job, row in waiting.items()}
        figures.active_at_quiet = len(waiting)

        def all_moved() -> bool:
            nonlocal slowest
            stage.keep_running()
            now, rows = monotonic(), {row["id"]: row for row in connection.execute(ACTIVE)}
            for job, before in list(waiting.items()):
                row = rows.get(job)
                if row is None or row["pages"] > before["pages"]:
                    slowest = max(slowest, now - due.pop(job))
                    del waiting[job]
                elif row["due_in"] > 0:
                    due[job] = max(due[job], now + row["due_in"])
            return not waiting

        wait_until(all_moved, describe=f"jobs {list(waiting)} go on", timeout=60)
    if figures.active_at_quiet:
        figures.recoveries = [round(slowest / LEASE_SECONDS, 2)]
        figures.slowdowns = [round(slowdown(shared, shares(stage.workers())), 2)]


def wait_for_ends(stage: Stage) -> None:
    """Wait until every worker is there, every fetch has ended and no message is left."""
    wait_until(stage.all_work, describe="every worker has started", timeout=60)
    with _connected(stage) as connection:

        def all_ended() -> bool:
            stage.keep_running()
            return not connection.execute(UNENDED).fetchall()

        wait_until(all_ended, describe="every fetch has ended", timeout=LONGEST_END_SECONDS)
    wait_until(lambda: stage.plant.messages() == 0, describe="no message is left", timeout=30)


def check(stage: Stage, figures: Figures, domains: list[str]) -> None:
    """Compare everything. Raises: AssertionError with all that is wrong."""
    plant, wrong = stage.plant, list[str]()
    fetches = plant.query("SELECT id, domain, state, error FROM fetches ORDER BY id")
    held = {row["domain"] for row in fetches}
    figures.lost += len(set(domains) - held)
    for domain in sorted(held):
        wrong += _compare(plant.truth(domain), plant.stored(domain), figures)
    wrong += _check_audit(stage, figures)
    wrong += [f"a fetch did not end as done: {row}" for row in fetches if row["state"] != "done"]
    engine = create_engine(plant.database)
    try:
        wrong += [f"{name} is not as counted: {pair}" for name, pair in drift(engine).items()]
    finally:
        engine.dispose()
    events = [event for process in plant.processes for event in process.events()]
    wrong += [e["exception"].splitlines()[-1] for e in events if e["event"] == "handler.failed"]
    _count_events(events, figures)
    if figures.lost or figures.doubled:
        wrong.insert(0, f"{figures.lost} lost, {figures.doubled} doubled")
    assert not wrong, "\n  ".join(fault[:MOST_SHOWN] for fault in wrong)
    wait_until(lambda: not plant.query(IDLE), describe="no session is idle in a transaction")


def _count_events(events: list[dict[str, Any]], figures: Figures) -> None:
    figures.leases = sum(event["event"] == "lease.taken" for event in events)
    figures.spills = sum(event["event"] == "job.spilled" for event in events)
    figures.stale_writes_refused = sum(
        event["event"] == "lease.lost"
        and any(words in event.get("reason", "") for words in REFUSED_WRITES)
        for event in events
    )


def _connected(stage: Stage) -> psycopg.Connection[dict[str, Any]]:
    """One connection for many looks: to connect for each would cost more than the workers."""
    url = libpq(stage.plant.database)
    return psycopg.connect(url, autocommit=True, row_factory=psycopg.rows.dict_row)


def _compare(truth: dict[str, Any], stored: dict[str, Any], figures: Figures) -> list[str]:
    figures.lost += len(truth.keys() - stored.keys())
    figures.doubled += len(stored.keys() - truth.keys())
    return [
        f"the {name} of {creative} is not the archive's"
        for creative, ad in truth.items()
        for name in ("advertiser", "format", "first_shown", "last_shown")
        if creative in stored and stored[creative][name] != ad[name]
    ]


def _check_audit(stage: Stage, figures: Figures) -> list[str]:
    """Each page of a job begins where the one before it ended, and fences never go down."""
    with _connected(stage) as connection:
        rows = connection.execute(LOGGED).fetchall()
        jobs = connection.execute("SELECT id, pages FROM jobs ORDER BY 1").fetchall()
    figures.pages, wrong = len(rows), list[str]()
    for job in jobs:
        own = [row for row in rows if row["job_id"] == job["id"]]
        numbers, fences = [row["page"] for row in own], [row["fence"] for row in own]
        if numbers != list(range(1, job["pages"] + 1)):
            wrong.append(f"{job} has the pages {numbers}")
        if fences != sorted(fences):
            wrong.append(f"the fences of {job} went down: {fences}")
        begins = [row["cursor_in"] for row in own]
        figures.doubled += len(begins) - len(set(begins))
        figures.lost += len(set(begins[1:]) - {row["cursor_out"] for row in own})
    return wrong
