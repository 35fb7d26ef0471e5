"""A worker process of one pool: the loop, its threads, and how it ends."""

import faulthandler
import os
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from ppcfetch.errors import NameLost, Unavailable
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Budget, Limits
from ppcfetch.ports import WorkerPorts
from workers.admitter import Admitter
from workers.consumer import Consumer
from workers.gate import Gate
from workers.heartbeat import EXIT_NAME_LOST, EXIT_STUCK, Heartbeat, beat_until
from workers.held import Hand
from workers.intake import Intake
from workers.leasing import Leasing
from workers.slots import Settler, Slots
from workers.sweeper import Sweeper

WAIT_FOR_SLOT_SECONDS = 0.5
WAIT_FOR_SETTLING_SECONDS = 0.02
WAIT_AT_GATE_SECONDS = 0.1
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0
EXIT_OK = 0
EXIT_THREAD_DIED = 71


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker process does, and within which limits.

    Shape: budget is how long a job may go on before others have their turn.
    Units: sweep is the time between two sweeps.
    """

    pool: Pool
    threads: int
    limits: Limits
    sweep: timedelta
    budget: Budget | None = None


class WorkerPool:
    """A process's share of a pool: so many threads, one leased job in each."""

    def __init__(self, parts: WorkerPorts, work: Work) -> None:
        """Prepare everything but start nothing; `stopping` may be set by a signal handler."""
        limits = work.limits
        self.stopping = threading.Event()
        self._finished = threading.Event()
        self._parts = parts
        self._sweeper = Sweeper(parts, every=work.sweep)
        self._gate = Gate(parts.pauses, pool=work.pool)
        self._pool = work.pool
        self._limits = limits
        self._threads = work.threads
        self._exit_code = EXIT_OK
        self._hand = Hand()
        self._admitter = Admitter(parts)
        self._heartbeat = Heartbeat(parts, hand=self._hand, limits=limits)
        self._consumer = Consumer(
            handler=parts.handler,
            clock=parts.clock,
            stopping=self.stopping,
            budget=work.budget,
            max_attempts=limits.max_attempts,
            paused=self._gate.closed,
        )

    def run(self) -> int:
        """Work until asked to stop, hand back what is in hand, and give the exit code."""
        log = structlog.get_logger().bind(
            consumer=self._parts.holder.consumer, pool=str(self._pool)
        )
        threading.excepthook = self._thread_died
        slots = self._start_threads()
        log.info("worker.started", threads=self._threads, pid=os.getpid())
        self._work(slots)
        log.info("worker.draining", in_hand=len(self._hand.all()))
        self._drain()
        self._finished.set()
        log.info("worker.stopped", code=self._exit_code)
        return self._exit_code

    def _start_threads(self) -> Slots:
        settler = Settler(self._parts, hand=self._hand, admitter=self._admitter)
        self._spawn("admitter", self._admitter.run)
        self._spawn("settler", settler.run)
        self._spawn("sweeper", self._sweeper.run, self.stopping)
        self._spawn("heartbeat", self._beat)
        self._spawn("gate", self._gate.watch, self.stopping)
        self._spawn("end", self._end_in_time)
        return Slots(self._threads, consumer=self._consumer, settler=settler)

    def _beat(self) -> None:
        beat_until(
            self._finished,
            heartbeat=self._heartbeat,
            stopping=self.stopping,
            limits=self._limits,
            leave=self._leave,
        )

    def _work(self, slots: Slots) -> None:
        parts = self._parts
        intake = Intake(parts, hand=self._hand, limits=self._limits)
        leasing = Leasing(
            parts,
            hand=self._hand,
            pool=self._pool,
            limits=self._limits,
            admitter=self._admitter,
        )
        pause = 0.0
        while not self.stopping.wait(pause):
            if self._gate.closed.is_set():
                pause = WAIT_AT_GATE_SECONDS
                continue
            try:
                self._turn(slots, intake, leasing)
            except NameLost as lost:
                structlog.get_logger().error("name.lost", error=str(lost))
                self._leave(EXIT_NAME_LOST)
            except Unavailable as away:
                pause = min(max(pause * 2, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
                structlog.get_logger().warning("intake.paused", error=str(away), seconds=pause)
            else:
                pause = 0.0

    def _turn(self, slots: Slots, intake: Intake, leasing: Leasing) -> None:
        free = slots.free(wait_seconds=WAIT_FOR_SLOT_SECONDS)
        if not free:
            return
        deliveries = intake.next(free)
        if deliveries and (self.stopping.is_set() or self._gate.closed.is_set()):
            # Not leased yet, so there is no row to change: let others have them at once.
            self._parts.settling.move(deliveries, self._pool)
            return
        for held in leasing.lease(deliveries) if deliveries else ():
            slots.start(held)

    def _drain(self) -> None:
        """Wait until every run has been handed back, but for those that ignore being told."""
        while any(not held.ignores_being_told() for held in self._hand.all()):
            self._finished.wait(WAIT_FOR_SETTLING_SECONDS)

    def _end_in_time(self) -> None:
        """End a process that was asked to and cannot, since a server holds an answer back for ever.

        A drain needs no more than the stall limit: longer than that no handler keeps its lease.
        """
        self.stopping.wait()
        if not self._finished.wait(self._limits.stall.total_seconds()):
            in_hand = [held.lease.job.id for held in self._hand.all()]
            structlog.get_logger().error("worker.stuck", in_hand=in_hand)
            faulthandler.dump_traceback(file=sys.stderr, all_threads=True)
            _exit_now(self._exit_code or EXIT_STUCK)

    def _leave(self, code: int) -> None:
        """End the process: at once without our name, else after a drain of a lease at most."""
        if code == EXIT_NAME_LOST:
            _exit_now(code)
        self._exit_code = code
        self.stopping.set()
        last = threading.Timer(self._limits.lease.total_seconds(), _exit_now, args=[code])
        last.daemon = True
        last.start()

    def _thread_died(self, died: threading.ExceptHookArgs) -> None:
        """Leave the process: a worker without its settler or heartbeat must not look alive."""
        name = died.thread.name if died.thread else "unknown"
        structlog.get_logger().error("thread.died", thread=name, error=repr(died.exc_value))
        traceback.print_exception(died.exc_type, died.exc_value, died.exc_traceback)
        # A job that makes a thread die would do so in every process, and never use up its starts.
        self._heartbeat.keep_starts()
        self._leave(EXIT_THREAD_DIED)

    def _spawn(self, name: str, body: Callable[..., None], *args: object) -> None:
        threading.Thread(target=body, args=args, name=name, daemon=True).start()


def _exit_now(code: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
