"""One run: servers, an archive, processes on hosts, people who ask, and what goes wrong."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from ppcfetch.adapters.redis.pace import PaceRules
from ppcfetch.errors import DatabaseUnavailable, Refused, StreamUnavailable
from ppcfetch.model.admission import Admission
from ppcfetch.model.fetch import FetchReason, Reach
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Budget, Limits
from ppcfetch.ports import Request
from ppcfetch.usecases.request_refresh import request_refresh
from tests.fakes_pace import FakePace
from tests.fakes_redis import State
from tests.simulation.fates import Fates
from tests.simulation.faults import draw, draw_clogs
from tests.simulation.judge import Judge
from tests.simulation.ledger import Ledger
from tests.simulation.moving import SPLIT_AT, MovingArchive, is_moving
from tests.simulation.process import Post, Process
from tests.simulation.scheduler import Scheduler, Signal
from tests.simulation.servers import SimArchive, WatchedDatabase, WatchedRedis, a_domain
from tests.simulation.wires import Call, Server, Wire

LEASE = timedelta(seconds=8.5)
RULES = PaceRules(
    throttled_rest=timedelta(seconds=5.3),
    failed_rest=timedelta(seconds=2.3),
    longest_rest=timedelta(seconds=17.4),
    trial=timedelta(seconds=4.4),
)


@dataclass
class Site:
    """The site: never killed here, but its links may lose what it asks for."""

    name: str = "site"
    alive: bool = True
    paused_until: float = 0.0
    holds_work: bool = True


class World:
    """Everything of one seed; `run` lets it happen.

    Shape: record is given every call that reaches a server, for those who want to make the same
    calls elsewhere; for them the clock of the database goes in steps of `grid`, which no length
    of time is a multiple of, so that no reply hangs on milliseconds.
    Units: grid is seconds, 0 for a clock without steps.
    """

    def __init__(
        self, seed: int, *, record: Callable[[Call], None] | None = None, grid: float = 0.0
    ) -> None:
        self.seed = seed
        self.record = record
        self.grid = grid
        self.dice = random.Random(seed)
        self.scheduler = Scheduler(self.dice)
        self.story: list[str] = []
        self.limits = Limits(
            lease=LEASE,
            renew=LEASE / 4,
            stall=LEASE * 3,
            max_starts=self.dice.choice([2, 3, 5, 5]),
            max_attempts=8,
        )
        pages = self.dice.randint(1, 3)
        self.reach = Reach()
        self.budgets = {
            Pool.INTERACTIVE: Budget(pages, timedelta(seconds=5)),
            Pool.BULK: Budget(pages + 1, timedelta(seconds=7)),
        }
        self.sweep_every = LEASE / 4
        self.ledger = Ledger(self.limits, now=lambda: self.scheduler.now)
        self.rings = Signal(self.scheduler)
        self._open_servers()
        self._open_archive()
        faults = draw(self.dice, lease=LEASE.total_seconds())
        clogs = draw_clogs(self.dice, lease=LEASE.total_seconds())
        self.backups: list[State] = [self.redis.backup()]
        self.processes: list[Process] = []
        self.posts = 0
        self.asking = 0
        self.fates = Fates(self, faults, clogs)
        self.judge = Judge(self)
        site = Site()
        wires = {server: Wire(site, server, self.scheduler, self.fates) for server in Server}
        self.site_database: Any = wires[Server.DATABASE].port(self.database)
        self.site_redis: Any = wires[Server.REDIS].port(self.redis)
        self._people()
        self._hire()

    def run(self) -> Ledger:
        """Let it happen, to the end of all work or to the first broken promise."""
        self.scheduler.spawn(self._keep_backups)
        self.scheduler.spawn(self.judge.watch)
        try:
            self.scheduler.run(lambda: self.judge.is_over, limit=200 * LEASE.total_seconds())
        finally:
            self.scheduler.close()
        if not self.ledger.violations:
            self.judge.audit()
        return self.ledger

    def jitter(self) -> float:
        """Draw what the product draws at random."""
        drawn = self.dice.random()
        return 0.3 if self.grid else drawn

    def tell(self, line: str) -> None:
        """Note a line of the story."""
        self.story.append(f"{self.scheduler.now:7.2f} s  {line}")

    def start(self, post: Post) -> None:
        """Start one more process at a post, which its supervisor keeps running from now on."""
        self.posts += 1
        self._start(post)

    def ended(self, process: Process, why: str) -> None:
        """Let the supervisor of a process start it again, a little later."""
        self.tell(f"{process.name} ended: {why}")
        self.processes.remove(process)
        pause = self.dice.uniform(0.05, 1) * LEASE.total_seconds()

        def again() -> None:
            self.scheduler.sleep(pause)
            self._start(process.post)

        self.scheduler.spawn(again)

    def _record_loss(self, name: str, *args: object) -> None:
        if self.record is not None:
            call = Call(self.scheduler.now, Server.REDIS, ("loss",), name, args, {})
            self.record(call)

    def _start(self, post: Post) -> None:
        self._started += 1
        process = Process(self, post, self._started)
        self.processes.append(process)
        process.begin()

    def _open_servers(self) -> None:
        def now() -> float:
            exact = self.scheduler.now
            return exact // self.grid * self.grid if self.grid else exact

        self.database = WatchedDatabase(self.ledger, limits=self.limits, now=now)
        self.database.admission = Admission(window=2 + self.seed % 2, parts=1)
        self.redis = WatchedRedis(
            lambda: 1_000.0 + self.scheduler.now,
            rings=self.rings,
            forgets_after=LEASE * 3,
            losses=self._record_loss,
        )
        self.redis.ensure_groups()
        rate = self.dice.choice([None, None, 4.0])
        self.rate, self.now = rate, now
        self._started = 0

    def _open_archive(self) -> None:
        self.archive, self.split_at = self._draw_archive(), None
        if is_moving(self.seed):
            dice = random.Random(f"archive {self.seed}")
            self.archive, self.split_at = MovingArchive(self, dice), SPLIT_AT
            self.reach = Reach(overlap=timedelta(hours=1))
            self.database.admission = replace(self.database.admission, parts=dice.randint(1, 3))
        self.pace = FakePace(self.rate, self.now, RULES, self.archive.ways)

    def _draw_archive(self) -> SimArchive:
        count = self.dice.randint(2, 4)
        pages = {a_domain(n).name: self.dice.randint(1, 7) for n in range(count)}
        poison = a_domain(0).name if self.dice.random() < 1 / 12 else None
        slow = a_domain(1).name if self.dice.random() < 1 / 3 else None
        if slow:
            pages[slow] = self.dice.randint(1, 2)
        return SimArchive(self, pages, poison=poison, slow=slow)

    def _hire(self) -> None:
        hosts = self.dice.randint(1, 3)
        for host in range(hosts):
            slots = self.dice.randint(1, 2)
            self.start(Post(f"host-{host}", Pool.INTERACTIVE, slots))
            if host == 0 or self.dice.random() < 0.4:
                self.start(Post(f"host-{host}", Pool.BULK, self.dice.randint(1, 2)))

    def _people(self) -> None:
        for _ in range(self.dice.randint(3, 6)):
            at = self.dice.uniform(0, 4) * LEASE.total_seconds()
            number = self.dice.randrange(len(self.archive.pages))
            reason = self.dice.choice([*[FetchReason.PERSON] * 3, FetchReason.SCHEDULE])
            self._will_ask(at, number, reason)
        if is_moving(self.seed):
            # The large domain once more, so that it is refreshed as well.
            self._will_ask(6 * LEASE.total_seconds(), 0, FetchReason.SCHEDULE)

    def _will_ask(self, at: float, number: int, reason: FetchReason) -> None:
        request = Request(a_domain(number), reason, asked_by=1, force=True, reach=self.reach)
        self.asking += 1
        self.scheduler.spawn(partial(self._ask, at, request))

    def _ask(self, at: float, request: Request) -> None:
        """Ask, and ask again while no answer comes, as a person would."""
        self.scheduler.sleep(at)
        while True:
            try:
                asked = request_refresh(
                    request, fetches=self.site_database, doorbell=self.site_redis
                )
            except DatabaseUnavailable:
                self.ledger.unclear += 1
                self.scheduler.sleep(self.dice.uniform(0.1, 1) * LEASE.total_seconds())
            except Refused:
                break
            except StreamUnavailable as away:
                self.ledger.violation(f"I1: a request failed although it needs no Redis: {away}")
                break
            else:
                self.ledger.acknowledged.add(asked.fetch.id)
                break
        self.asking -= 1

    def _keep_backups(self) -> None:
        while True:
            self.scheduler.sleep(LEASE.total_seconds() * 0.7)
            if not self.fates.are_over:
                self.backups.append(self.redis.backup())
