"""What must hold when it is quiet again, read from the servers and compared with the archive."""

from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any

import psycopg
from sqlalchemy import create_engine

from tests.contract.recount import drift
from tests.e2e.chaos.stage import LEASE_SECONDS, Stage
from tests.waiting import wait_until

REFUSED_WRITES = ("no longer held under fence", "before the outcome was written")
ACTIVE = """
SELECT j.id, j.state, j.pages, j.fence,
    greatest(0, extract(epoch FROM j.due_at - clock_timestamp()))::float AS due_in
FROM jobs j WHERE state IN ('queued', 'running')
"""
IDLE = """
SELECT pid, query FROM pg_stat_activity
WHERE datname = current_database() AND state LIKE 'idle in transaction%%'
"""
LONGEST_END_SECONDS = 120.0


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
    slowest_recovery_leases: float = 0.0
    recoveries_over_3_leases: int = 0

    def add(self, other: "Figures") -> None:
        """Take the figures of another schedule along."""
        for name, value in asdict(other).items():
            mine = getattr(self, name)
            if isinstance(value, dict):
                for kind, count in value.items():
                    mine[kind] = mine.get(kind, 0) + count
            elif name == "slowest_recovery_leases":
                self.slowest_recovery_leases = max(mine, value)
            else:
                setattr(self, name, mine + value)


def recovery(stage: Stage) -> float:
    """Give in how many leases every job that was active made progress, once it was due."""
    began = monotonic()
    waiting = {row["id"]: row for row in stage.plant.query(ACTIVE)}
    due = {job: began + row["due_in"] for job, row in waiting.items()}
    slowest = 0.0

    def all_moved() -> bool:
        nonlocal slowest
        stage.keep_running()
        now, rows = monotonic(), {row["id"]: row for row in stage.plant.query(ACTIVE)}
        for job, before in list(waiting.items()):
            row = rows.get(job)
            if row is None or row["pages"] > before["pages"]:
                slowest = max(slowest, now - due.pop(job))
                del waiting[job]
            elif row["due_in"] > 0:
                due[job] = max(due[job], now + row["due_in"])
        return not waiting

    wait_until(all_moved, describe=f"jobs {list(waiting)} go on", timeout=60)
    return max(slowest, 0.0) / LEASE_SECONDS


def wait_for_ends(stage: Stage) -> None:
    """Wait until every fetch has ended and no message is left."""
    plant = stage.plant

    def all_ended() -> bool:
        stage.keep_running()
        return not plant.query("SELECT id FROM fetches WHERE state = 'active'")

    wait_until(
        all_ended,
        describe="every fetch has ended",
        timeout=LONGEST_END_SECONDS,
    )
    wait_until(lambda: plant.messages() == 0, describe="no message is left", timeout=30)


def check(stage: Stage, figures: Figures, domains: list[str]) -> None:
    """Compare everything. Raises: AssertionError with what is wrong."""
    plant = stage.plant
    fetches = plant.query("SELECT id, domain, state, error FROM fetches ORDER BY id")
    assert {row["state"] for row in fetches} <= {"done"}, fetches
    held = {row["domain"] for row in fetches}
    figures.lost += len(set(domains) - held)
    for domain in sorted(held):
        _compare(plant.truth(domain), plant.stored(domain), figures)
    assert (figures.lost, figures.doubled) == (0, 0)
    _check_audit(stage, figures)
    engine = create_engine(plant.database)
    try:
        assert drift(engine) == {}
    finally:
        engine.dispose()
    wait_until(lambda: not plant.query(IDLE), describe="no session is idle in a transaction")
    events = [event for process in plant.processes for event in process.events()]
    figures.leases = sum(event["event"] == "lease.taken" for event in events)
    figures.spills = sum(event["event"] == "job.spilled" for event in events)
    figures.stale_writes_refused = sum(
        event["event"] == "lease.lost"
        and any(words in event.get("reason", "") for words in REFUSED_WRITES)
        for event in events
    )


def _compare(truth: dict[str, Any], stored: dict[str, Any], figures: Figures) -> None:
    figures.lost += len(truth.keys() - stored.keys())
    figures.doubled += len(stored.keys() - truth.keys())
    wrong = [
        (creative, name)
        for creative, ad in truth.items()
        for name in ("advertiser", "format", "first_shown", "last_shown")
        if creative in stored and stored[creative][name] != ad[name]
    ]
    assert wrong == []


def _check_audit(stage: Stage, figures: Figures) -> None:
    """Fences never go down along a job's pages, and no page is missing."""
    with psycopg.connect(stage.plant.database.replace("+psycopg", "", 1)) as connection:
        log = connection.execute("SELECT job_id, page, fence FROM page_log ORDER BY 1, 2")
        rows = log.fetchall()
        jobs = connection.execute("SELECT id, pages FROM jobs ORDER BY 1").fetchall()
    figures.pages = len(rows)
    for job, pages in jobs:
        own = [(page, fence) for owner, page, fence in rows if owner == job]
        assert [page for page, _ in own] == list(range(1, pages + 1))
        fences = [fence for _, fence in own]
        assert fences == sorted(fences)
