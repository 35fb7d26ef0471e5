"""A stage for the use cases and the worker's parts: one virtual clock, servers in memory.

Nothing here runs by itself: a test says which worker makes which step, and when time passes.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from ppcfetch.errors import Retryable
from ppcfetch.model.ad import Ad, ArchivePage, Query
from ppcfetch.model.egress import DIRECT, Permit
from ppcfetch.model.fetch import FetchReason
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Budget, Limits
from ppcfetch.model.outcome import Outcome
from ppcfetch.ports import Archive, Asked, Progress, Request, Run, SweepReport, WorkerPorts
from ppcfetch.usecases.request_refresh import request_refresh
from ppcfetch.usecases.run_job import run_job
from ppcfetch.usecases.settle import Ended
from ppcfetch.usecases.sweep import sweep
from tests.builders import BLUEBIRD, a_limits, a_page, an_ad
from tests.fakes_consumer import FakeDeliveries, FakeName
from tests.fakes_database import FakeDatabase
from tests.fakes_redis import FakeRedis
from workers.admitter import Admitter
from workers.consumer import Consumer
from workers.heartbeat import Heartbeat
from workers.held import Hand, Held
from workers.intake import Intake
from workers.leasing import Leasing
from workers.slots import Settler

PAGE_SIZE = 2


class StageClock:
    """Time that passes only when it is told to, or slept through."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.on_sleep: Callable[[], None] = lambda: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.on_sleep()

    def random(self) -> float:
        return 0.5


class StageArchive:
    """An archive of so many pages; `answers` put before them are given or raised first."""

    def __init__(self, pages: int) -> None:
        self.pages = pages
        self.asked: list[str | None] = []
        self.answers: list[ArchivePage | Exception] = []
        self.ways: list[str] = []

    def page(self, _query: Query, cursor: str | None, *, via: str = DIRECT) -> ArchivePage:
        self.asked.append(cursor)
        self.ways.append(via)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        number = int(cursor or 0)
        is_last = number + 1 >= self.pages
        return a_page(*self.ads_of(number), next_cursor=None if is_last else str(number + 1))

    def ads_of(self, page: int) -> list[Ad]:
        """The ads of a page, counted from zero."""
        return [an_ad(page * PAGE_SIZE + n + 1) for n in range(PAGE_SIZE)]

    def creatives(self) -> set[str]:
        """Every ad's id."""
        return {ad.creative_id for n in range(self.pages) for ad in self.ads_of(n)}


class StagePace:
    """A pace that asks to wait as often as it was told to."""

    def __init__(self) -> None:
        self.waits: list[timedelta] = []
        self.rest: timedelta | None = None
        self.told: list[str] = []

    def ask(self, _pool: Pool) -> Permit | timedelta:
        return self.waits.pop(0) if self.waits else Permit(DIRECT)

    def went_well(self, _permit: Permit) -> None:
        self.told.append("well")

    def went_badly(self, _permit: Permit, error: Retryable) -> timedelta | None:
        self.told.append(type(error).__name__)
        return self.rest


@dataclass
class Seat:
    """One worker process, cut into its steps."""

    ports: WorkerPorts
    pool: Pool
    limits: Limits
    budget: Budget | None = None
    hand: Hand = field(default_factory=Hand)
    stopping: threading.Event = field(default_factory=threading.Event)
    paused: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Put the parts together as the worker process does."""
        self.intake = Intake(self.ports, hand=self.hand, limits=self.limits)
        self.woken = threading.Event()
        self.admitter = Admitter(self.ports, woken=self.woken)
        self.leasing = Leasing(
            self.ports,
            hand=self.hand,
            pool=self.pool,
            limits=self.limits,
            admitter=self.admitter,
        )
        self.heartbeat = Heartbeat(self.ports, hand=self.hand, limits=self.limits)
        self.settler = Settler(self.ports, hand=self.hand, admitter=self.admitter)
        self.consumer = Consumer(
            handler=self.ports.handler,
            clock=self.ports.clock,
            stopping=self.stopping,
            budget=self.budget,
            max_attempts=self.limits.max_attempts,
            paused=self.paused,
        )

    def lease(self, free: int = 1) -> Sequence[Held]:
        """Look once for something to do, and lease it."""
        return self.leasing.lease(self.intake.next(free))

    def begin(self, held: Held) -> Iterator[Progress | None]:
        """Start a handler that the test drives page by page."""
        return self.ports.handler(held)

    def finish(self, held: Held) -> Outcome:
        """Run a leased job as a slot does, and settle what it ends in."""
        outcome = self.consumer.run(held)
        self.settler.settle(
            [(held, Ended(held.lease, held.delivery, outcome, row_ended=held.ended))]
        )
        self.admitter.look()
        return outcome

    def work(self) -> list[Outcome]:
        """Lease and run until there is nothing more to do."""
        outcomes = []
        while held := self.lease():
            outcomes += [self.finish(one) for one in held]
        return outcomes


class Stage:
    """The servers, the archive, and as many workers as a test wants."""

    def __init__(self, *, pages: int = 3, limits: Limits | None = None) -> None:
        self.limits = limits or a_limits()
        self.clock = StageClock()
        self.database = FakeDatabase(limits=self.limits, now=self.clock.monotonic)
        self.redis = FakeRedis(self.clock.monotonic, on_block=self._block)
        self.redis.ensure_groups()
        self.archive = StageArchive(pages)
        self.walked: Archive = self.archive
        self.split_at: int | None = None
        self.pace = StagePace()

    def request(self, reason: FetchReason = FetchReason.PERSON, *, who: int = 1) -> Asked:
        """Ask for the domain to be refreshed, as the site does."""
        request = Request(BLUEBIRD, reason, asked_by=who, window=timedelta(days=1))
        return request_refresh(request, fetches=self.database, doorbell=self.redis)

    def worker(
        self, pool: Pool = Pool.INTERACTIVE, *, host: str = "host", budget: Budget | None = None
    ) -> Seat:
        """Start a worker process; each takes the lowest free name of its host."""
        name = self.redis.take_name(host, pool, self.database.next_incarnation(), self.limits.lease)
        return Seat(self.ports(name, pool), pool, self.limits, budget)

    def ports(self, name: FakeName, pool: Pool) -> WorkerPorts:
        """Give a worker's bundle."""
        deliveries: FakeDeliveries = self.redis.deliveries(pool, name.holder, self.limits.lease)
        settling = self.redis.settling(pool)
        return WorkerPorts(
            holder=name.holder,
            name=name,
            jobs=self.database,
            beat_jobs=self.database,
            deliveries=deliveries,
            settling=settling,
            beat_settling=settling,
            due=self.database,
            doorbell=self.redis,
            census=self.redis,
            pauses=self.database,
            handler=self.handler,
            clock=self.clock,
        )

    def handler(self, run: Run) -> Iterator[Progress | None]:
        """Run a job of the stage."""
        return run_job(
            run,
            archive=self.walked,
            pages=self.database,
            pace=self.pace,
            clock=self.clock,
            patience=self.limits.lease,
            split_at=self.split_at,
        )

    def sweep(self, seat: Seat) -> SweepReport | None:
        """Make one round of the sweeper in a worker."""
        return sweep(
            seat.ports.holder,
            due=self.database,
            doorbell=self.redis,
            census=self.redis,
            turn=timedelta(seconds=60),
        )

    def pass_time(self, length: timedelta) -> None:
        """Let time pass for everybody."""
        self.clock.now += length.total_seconds()

    def pass_lease(self) -> None:
        """Let a little more than a lease pass."""
        self.pass_time(self.limits.lease * 1.01)

    def messages(self) -> int:
        """How many messages there are, waiting or in hand, in both pools."""
        counts = [self.redis.counts(pool) for pool in Pool]
        return sum(one.undelivered + one.in_hand for one in counts)

    def stored(self) -> set[str]:
        """The ids of all stored ads."""
        return {creative for _, _, creative in self.database.ads}

    def _block(self, length: timedelta) -> None:
        self.clock.now += min(length.total_seconds(), 0.001)
