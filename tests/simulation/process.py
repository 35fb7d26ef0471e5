"""A worker process: the real parts of one, its threads being actors.

The loops of heartbeat and sweeper are the real ones; those of intake, slots and settler say the
same as `workers/pool.py` and `workers/slots.py`, which own real threads.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ppcfetch.errors import NameLost, PpcFetchError, StreamUnavailable, Unavailable
from ppcfetch.model.job import Pool
from ppcfetch.ports import Progress, Run, WorkerPorts
from ppcfetch.usecases.run_job import run_job
from ppcfetch.usecases.settle import Ended
from tests.simulation.scheduler import Scheduler, Signal
from tests.simulation.servers import Visit
from tests.simulation.wires import Server, Wire
from workers.admitter import Admitter
from workers.consumer import Consumer
from workers.gate import Gate
from workers.heartbeat import EXIT_NAME_LOST, Heartbeat, beat_until
from workers.held import Hand, Held
from workers.intake import Intake
from workers.leasing import Leasing
from workers.slots import Settler
from workers.sweeper import Sweeper

if TYPE_CHECKING:
    from tests.simulation.world import World

WAIT_FOR_SLOT_SECONDS = 0.5
WAIT_FOR_SETTLING_SECONDS = 0.2
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0
WAIT_AT_GATE_SECONDS = 0.1
LOOK_AT_GATE_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class Post:
    """What a supervisor keeps running: a process on a host, for a pool, with so many slots."""

    host: str
    pool: Pool
    slots: int


class ProcessClock:
    """Port Clock in virtual time."""

    def __init__(self, scheduler: Scheduler, random: Any) -> None:
        self._scheduler = scheduler
        self._random = random

    def monotonic(self) -> float:
        return self._scheduler.now

    def sleep(self, seconds: float) -> None:
        self._scheduler.sleep(seconds)

    def random(self) -> float:
        return float(self._random())


class Process:
    """A process from its start to its end."""

    def __init__(self, world: "World", post: Post, number: int) -> None:
        self.world = world
        self.post = post
        self.name = f"{post.host}/{post.pool}#{number}"
        self.alive = True
        self.paused_until = 0.0
        self.hand = Hand()
        self.clock = ProcessClock(world.scheduler, world.jitter)
        self.stopping = Signal(world.scheduler)
        self._began = world.scheduler.now
        self._finished = Signal(world.scheduler)
        self._changed = Signal(world.scheduler)
        self._free = post.slots
        self._work: list[Held] = []
        self._over: list[tuple[Held, Ended]] = []
        self.in_intake = False
        self.consumer = ""
        self.wires = {server: Wire(self, server, world.scheduler, world.fates) for server in Server}

    @property
    def holds_work(self) -> bool:
        """Whether something would be interrupted by a fault now."""
        return bool(self.hand.all()) or self.in_intake

    @property
    def has_free_slot(self) -> bool:
        """Whether it could begin a job now."""
        awake = self.paused_until <= self.world.scheduler.now
        return self.alive and awake and self._free > 0 and not self.stopping.is_set()

    def wire_to(self, server: Server) -> Wire:
        """Give its link to a server."""
        return self.wires[server]

    def begin(self) -> None:
        """Start the main thread."""
        self._spawn(self._main)

    def die(self, why: str) -> None:
        """End at once, wherever its threads are."""
        if self.alive:
            self.alive = False
            self.world.ended(self, why)

    def _spawn(self, body: Any) -> None:
        def guarded() -> None:
            try:
                body()
            except Exception as fault:  # noqa: BLE001 - a thread that dies is a finding of its own
                self.world.ledger.violation(f"{self.name}: a thread died of {fault!r}")
                self.die("thread died")

        self.world.scheduler.spawn(guarded, self)

    # The threads

    def _main(self) -> None:
        try:
            ports = self._open()
        except PpcFetchError as away:
            self.die(f"could not start: {away}")
            return
        gate = Gate(ports.pauses, pool=self.post.pool)
        admitter = Admitter(ports, woken=Signal(self.world.scheduler))
        self._start_threads(ports, gate, admitter)
        self._loop(ports, gate, admitter)
        while any(not held.ignores_being_told() for held in self.hand.all()):
            self._changed.wait(WAIT_FOR_SETTLING_SECONDS)
        self._finished.set()
        with suppress(StreamUnavailable):
            ports.name.release()
        self.die("stopped")

    def _open(self) -> WorkerPorts:
        world, limits = self.world, self.world.limits
        database = self.wires[Server.DATABASE].port(world.database)
        redis = self.wires[Server.REDIS]
        number = database.next_incarnation()
        name = redis.port(world.redis).take_name(
            self.post.host, self.post.pool, number, limits.lease
        )
        self.consumer = name.holder.consumer
        settling = redis.port(world.redis.settling(self.post.pool), "settling", self.post.pool)
        deliveries = world.redis.deliveries(self.post.pool, name.holder, limits.lease)
        return WorkerPorts(
            holder=name.holder,
            name=redis.port(name, "name", self.post.pool, name.holder),
            jobs=database,
            beat_jobs=database,
            deliveries=redis.port(deliveries, "deliveries", self.post.pool, name.holder),
            settling=settling,
            beat_settling=settling,
            due=database,
            doorbell=redis.port(world.redis),
            census=redis.port(world.redis),
            pauses=database,
            handler=self._handler,
            clock=self.clock,
        )

    def _handler(self, run: Run) -> Iterator[Progress | None]:
        visit = Visit(self.world, self, run)
        return run_job(
            run,
            archive=visit,
            pages=self.wires[Server.DATABASE].port(self.world.database),
            pace=visit,
            clock=self.clock,
            patience=self.world.limits.lease,
            split_at=self.world.split_at,
        )

    def _start_threads(self, ports: WorkerPorts, gate: Gate, admitter: Admitter) -> None:
        limits = self.world.limits
        settler = Settler(ports, hand=self.hand, admitter=admitter)
        heartbeat = Heartbeat(ports, hand=self.hand, limits=limits)
        consumer = Consumer(
            handler=ports.handler,
            clock=self.clock,
            stopping=self.stopping,
            budget=self.world.budgets[self.post.pool],
            max_attempts=limits.max_attempts,
            paused=gate.closed,
        )
        sweeper = Sweeper(ports, every=self.world.sweep_every)
        self._spawn(lambda: self._settle(settler))
        self._spawn(admitter.run)
        self._spawn(lambda: sweeper.run(self.stopping))
        self._spawn(lambda: self._beat(heartbeat))
        self._spawn(lambda: self._look_at(gate))
        for _ in range(self.post.slots):
            self._spawn(lambda: self._serve(consumer))

    def _beat(self, heartbeat: Heartbeat) -> None:
        beat_until(
            self._finished,
            heartbeat=heartbeat,
            stopping=self.stopping,
            limits=self.world.limits,
            leave=self._leave,
        )

    def _look_at(self, gate: Gate) -> None:
        """As `Gate.watch`, less often: most looks change nothing and cost virtual calls."""
        gate.look()
        while not self.stopping.wait(LOOK_AT_GATE_SECONDS):
            gate.look()

    def _leave(self, code: int) -> None:
        if code == EXIT_NAME_LOST:
            self.die("its name is borne by another")
            self.world.scheduler.stop_for_ever()
        self.stopping.set()
        self.world.scheduler.spawn(self._give_up_a_lease_later, self)

    def _give_up_a_lease_later(self) -> None:
        self.world.scheduler.sleep(self.world.limits.lease.total_seconds())
        if self.alive:
            self.world.ledger.left(self.name, began=self._began)
        self.die("a handler did not stop")

    def _loop(self, ports: WorkerPorts, gate: Gate, admitter: Admitter) -> None:
        intake = Intake(ports, hand=self.hand, limits=self.world.limits)
        leasing = Leasing(
            ports,
            hand=self.hand,
            pool=self.post.pool,
            limits=self.world.limits,
            admitter=admitter,
        )
        pause = 0.0
        while not self.stopping.wait(pause):
            if gate.closed.is_set():
                pause = WAIT_AT_GATE_SECONDS
                continue
            try:
                self._turn(ports, gate, intake, leasing)
            except NameLost:
                self._leave(EXIT_NAME_LOST)
            except Unavailable:
                pause = min(max(pause * 2, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
            else:
                pause = 0.0
            self.in_intake = False

    def _turn(self, ports: WorkerPorts, gate: Gate, intake: Intake, leasing: Leasing) -> None:
        if not self._free:
            self._changed.wait(WAIT_FOR_SLOT_SECONDS)
            return
        deliveries = intake.next(self._free)
        self.in_intake = bool(deliveries)
        if deliveries and (self.stopping.is_set() or gate.closed.is_set()):
            ports.settling.move(deliveries, self.post.pool)
            return
        for held in leasing.lease(deliveries) if deliveries else ():
            self._free -= 1
            self._work.append(held)
        self._changed.stir()

    def _serve(self, consumer: Consumer) -> None:
        while True:
            while not self._work:
                self._changed.wait()
            held = self._work.pop(0)
            outcome = consumer.run(held)
            ended = Ended(held.lease, held.delivery, outcome, row_ended=held.ended)
            self._over.append((held, ended))
            self._free += 1
            self._changed.stir()

    def _settle(self, settler: Settler) -> None:
        while True:
            while not self._over:
                self._changed.wait()
            batch, self._over = self._over, []
            settler.settle(batch)
            self._changed.stir()
