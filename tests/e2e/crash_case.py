"""One crash: a worker meets it alone, another one finds what is left, and all is compared."""

import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic

from redis import Redis

from ppcfetch.bootstrap.site import SitePorts, open_site
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason
from ppcfetch.ports import Request
from ppcfetch.settings import load_settings
from tests.e2e.crash_points import Point
from tests.e2e.crashing_worker import REACHED, VARIABLE
from tests.e2e.nursery import Born, Nursery
from tests.e2e.plant import Plant, Process, assert_truth
from tests.waiting import wait_until

LEASE_SECONDS = 1.0
SLEEP_LEASES = 3
LONGEST_LEASES = 12
"""Where nothing else runs, all ends within five; what is stuck would take for ever."""
MOST_STARTS = 5
MOST_LEASES_OF_A_JOB = 6
CAUSES = ("job.handed_back", "job.spilled", "lease.lost")
"""What ends a lease of a healthy worker early; on a loaded machine it may also miss its beats."""
CRASHING = "crashing"
INTERACTIVE = ("interactive",)
STREAM = "{ppcfetch}:interactive"
ALSO_IN_BULK = frozenset({"spill", "split"})
"""Settings in which some of the jobs are bulk."""
SPLIT_ADS = "200"
FORMATS = 3
"""The parts that a domain of that size has, each too small to be split again."""
GROUP = "workers"
SETTINGS = {
    "PPCFETCH_LEASE_SECONDS": str(LEASE_SECONDS),
    "PPCFETCH_SWEEP_SECONDS": "0.25",
    "PPCFETCH_MAX_STARTS": str(MOST_STARTS),
}


class NotReached(AssertionError):
    """The worker did not come to the point: another thread was faster, or the machine too slow."""


class Late(AssertionError):
    """The end did not come in time: something is stuck, or the machine was too busy."""


@dataclass(frozen=True)
class Took:
    """What a crash has cost: leases of the other worker's life, and pages that were asked again."""

    leases: float
    repeats: int


@dataclass(frozen=True)
class Lane:
    """Where cases run one after the other: servers of their own, or parts of shared ones."""

    number: int
    archive: str
    redis: str
    nursery: Nursery
    folder: Path
    database: Callable[[], str]


@dataclass
class Case:
    """A crash of one kind at one point."""

    point: Point
    action: str
    domain: str
    lane: Lane = field(init=False)
    plant: Plant = field(init=False)
    _others: list[Process] = field(default_factory=list)

    @property
    def lease_seconds(self) -> float:
        """Give a lease of this case; for half of one it may be asked how to split a walk."""
        return LEASE_SECONDS * (3 if self.point.setting == "split" else 1)

    @property
    def unrung(self) -> str:
        """Give the domain whose doorbell stayed silent: one of the lane's own."""
        return f"ads-{self.lane.number}.example"

    @property
    def name(self) -> str:
        """Give what tells it from all others."""
        point = self.point
        return f"{point.name}:{point.setting}:{point.count}:{self.action}"

    def run(self) -> Took:
        """Let it happen; gives how long the other worker took, and what was done twice."""
        folder = Path(mkdtemp(prefix=self.name.replace("/", "-"), dir=self.lane.folder))
        self.plant = Plant(folder, self.lane.database(), self.lane.redis, dict(SETTINGS))
        self.plant.archive, self.plant.nursery = self.lane.archive, self.lane.nursery
        with Redis.from_url(self.plant.redis) as redis:
            redis.flushdb()
        try:
            return self._run()
        finally:
            self.plant.stop()

    def _run(self) -> Took:
        before = self._asked()
        settings = load_settings(database_url=self.plant.database, redis_url=self.plant.redis)
        with open_site(settings, threads=1) as site:
            self._ask(site)
        crashing = self._meet_the_crash()
        self._start_others()
        began = monotonic()
        if self.action == "stop":
            wait_until(
                lambda: monotonic() - began > SLEEP_LEASES * self.lease_seconds,
                describe="the worker has slept for three leases",
            )
            crashing.signal(signal.SIGCONT)
        self._wait_for_ends()
        took = (monotonic() - began) / self.lease_seconds
        self._check(crashing)
        repeats = self._check_work(asked_before=before)
        return Took(took, repeats)

    def _ask(self, site: SitePorts) -> None:
        """Ask for one fetch that rings and for one whose doorbell stayed silent."""
        site.request_refresh(_request(self.domain))
        site.fetches.request(_request(self.unrung))
        setting = self.point.setting
        if setting == "exhausted":
            self._change("UPDATE jobs SET starts = %s WHERE id = 1", MOST_STARTS)
        if setting in {"history", "abandoned"}:
            bearer = CRASHING if setting == "history" else "gone"
            self._deliver_to(f"{bearer}.interactive.1")
        if setting == "spill":
            self.plant.settings["PPCFETCH_INTERACTIVE_PAGES"] = "2"
        if setting == "split":
            self.plant.settings["PPCFETCH_SPLIT_ADS"] = SPLIT_ADS
            self.plant.settings["PPCFETCH_LEASE_SECONDS"] = str(self.lease_seconds)

    def _deliver_to(self, consumer: str) -> None:
        """Leave the message in the hands of somebody who has been silent for long."""
        with Redis.from_url(self.plant.redis) as redis:
            redis.xgroup_create(STREAM, GROUP, id="0")
            ((_, messages),) = redis.xreadgroup(GROUP, consumer, {STREAM: ">"}, count=1)
            ids = [message_id for message_id, _ in messages]
            redis.xclaim(STREAM, GROUP, consumer, 0, ids, idle=60_000, justid=True)

    def _meet_the_crash(self) -> Process:
        at = f"{self.point.name}:{self.action}:{self.point.count}"
        if self.point.setting == "lost":
            at = f"after/deliveries.receive:lose,{at}"
        own = {VARIABLE: at, "PPCFETCH_WORKER_NAME": CRASHING}
        arguments = ("worker", "--pool", "interactive", "--threads", "2")
        crashing = self.plant.command(*arguments, **own)
        if self.point.setting == "asked":
            self.plant.wait_for_pages(self.domain, 1)
            crashing.signal(signal.SIGTERM)
        wait_until(
            lambda: _has_met(crashing, self.action),
            describe=f"{self.point.name} is reached; see {crashing.log}",
            timeout=60,
        )
        return crashing

    def _start_others(self) -> None:
        self._others = [
            self._start_other(pool)
            for pool in (
                ("interactive", "bulk") if self.point.setting in ALSO_IN_BULK else INTERACTIVE
            )
        ]
        wait_until(
            lambda: all(worker.events("worker.started") for worker in self._keep_others()),
            describe=f"the other workers have started; see {self.plant.folder}",
            timeout=60,
        )

    def _start_other(self, pool: str) -> Process:
        return self.plant.command("worker", "--pool", pool, "--threads", "2")

    def _keep_others(self) -> list[Process]:
        """Start again who has left by himself, as a supervisor does."""
        self._others = [
            worker
            if worker.popen.poll() is None
            else self._start_other("bulk" if number else "interactive")
            for number, worker in enumerate(self._others)
        ]
        return self._others

    def _wait_for_ends(self) -> None:
        active = (
            "SELECT j.*, f.state AS fetch FROM jobs j JOIN fetches f ON f.id = j.fetch_id"
            " WHERE f.state = 'active' OR j.state IN ('queued', 'running')"
        )
        slept = SLEEP_LEASES if self.action == "stop" else 0
        try:
            wait_until(
                lambda: self._keep_others() and not self.plant.query(active),
                describe=f"all jobs have ended; see {self.plant.folder}",
                timeout=(LONGEST_LEASES + slept) * self.lease_seconds,
            )
            wait_until(
                lambda: self.plant.messages() == 0,
                describe=f"no message is left; see {self.plant.folder}",
                timeout=LONGEST_LEASES * self.lease_seconds,
            )
        except AssertionError as late:
            raise Late(str(late)) from None

    def _check(self, crashing: Process) -> None:
        plant, exhausted = self.plant, self.point.setting == "exhausted"
        assert_truth(plant, self.unrung)
        states = plant.query(
            "SELECT domain, kind, state, starts, fence, parent_id FROM jobs ORDER BY id"
        )
        ends = [row["state"] for row in states if row["parent_id"] is None]
        parts = [row["state"] for row in states if row["parent_id"] is not None]
        if self.point.setting == "split" and not parts:
            raise NotReached("the machine was too busy to find out in time how to split it")
        assert ends == (["dead", "done"] if exhausted else ["done", "done", "done"]), states
        assert parts == (["done"] * FORMATS if self.point.setting == "split" else []), states
        with Redis.from_url(plant.redis) as letters:
            # The row is what counts: who died between row and letter leaves none behind.
            assert letters.xlen("{ppcfetch}:dead") <= int(exhausted)
        if not exhausted:
            assert_truth(plant, self.domain)
            assert max(row["starts"] for row in states) == 0, states
        self._check_pages()
        if self.action == "term" and self.point.setting != "asked":
            assert crashing.wait(10) == 0

    def _asked(self) -> int:
        """Count what the archive was asked for this case's domains, in earlier cases too."""
        domains = (self.domain, self.unrung)
        return sum(int(self.plant.requests(domain=name)["total"]) for name in domains)

    def _check_work(self, *, asked_before: int) -> int:
        """Give how many pages were asked again: each lease but a job's first may ask for one.

        The crash ends one lease of a job; for each further one there has to be a reason.
        """
        events = [e for process in self.plant.processes for e in process.events()]
        assert not [e for e in events if e["event"] == "handler.failed"]
        leases = {row["id"]: row["fence"] for row in self.plant.query("SELECT id, fence FROM jobs")}
        for job, fence in leases.items():
            causes = sum(e["event"] in CAUSES and e["job"] == job for e in events)
            assert fence <= min(2 + causes, MOST_LEASES_OF_A_JOB), (job, fence, causes)
        stored = int(self.plant.one("SELECT count(*) FROM page_log"))
        repeats = self._asked() - asked_before - stored
        if self.point.setting == "split":
            repeats -= FORMATS  # which were asked for to find out whether they part the domain
        most = sum(fence - 1 for fence in leases.values())
        if self.point.setting == "split":
            most += FORMATS * (leases[1] - 1)
        assert 0 <= repeats <= most, (repeats, leases)
        return repeats

    def _check_pages(self) -> None:
        pages = self.plant.query("SELECT job_id, page, fence FROM page_log ORDER BY job_id, page")
        for job in {row["job_id"] for row in pages}:
            own = [row for row in pages if row["job_id"] == job]
            assert [row["page"] for row in own] == list(range(1, len(own) + 1))
            assert [row["fence"] for row in own] == sorted(row["fence"] for row in own)
        counts = self.plant.query("SELECT sum(found) AS found, sum(new) AS new FROM fetches")
        held = self.plant.one("SELECT count(*) FROM ads")
        assert counts == [{"found": held, "new": held}]

    def _change(self, statement: str, *values: object) -> None:
        self.plant.query(f"{statement} RETURNING 1", *values)


def _request(domain: str) -> Request:
    return Request(DomainName.parse(domain), FetchReason.COMMAND)


def _has_met(crashing: Process, action: str) -> bool:
    if not any(event["action"] != "lose" for event in crashing.events(REACHED)):
        if crashing.popen.poll() is not None:
            raise NotReached(crashing.log.read_text())
        return False
    assert isinstance(crashing.popen, Born)
    match action:
        case "kill":
            return crashing.popen.poll() is not None
        case "stop":
            return crashing.popen.is_suspended()
        case _:
            return True
