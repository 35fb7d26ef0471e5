"""The threads that run jobs, and the one that settles what they ended."""

import queue
import threading
from collections.abc import Sequence

import structlog

from ppcfetch.errors import DatabaseUnavailable, LeaseLost
from ppcfetch.model.outcome import Spill
from ppcfetch.ports import WorkerPorts
from ppcfetch.usecases.settle import Ended, settle
from workers.admitter import Admitter
from workers.consumer import Consumer
from workers.held import Hand, Held

REPEAT_SECONDS = 0.1
LINGER_SECONDS = 0.001
"""How long a process that works waits for more free slots before it reads again."""


class Settler:
    """Settles outcomes that fall together in one go, without ever waiting for each other."""

    def __init__(self, parts: WorkerPorts, *, hand: Hand, admitter: Admitter) -> None:
        """Keep the ports; `run` is the body of the thread."""
        self._jobs = parts.jobs
        self._settling = parts.settling
        self._hand = hand
        self._admitter = admitter
        self._clock = parts.clock
        self._queue: queue.SimpleQueue[tuple[Held, Ended]] = queue.SimpleQueue()

    def put(self, held: Held, ended: Ended) -> None:
        """Hand over a run that is over; its lease stays in hand until it is settled."""
        self._queue.put((held, ended))

    def run(self) -> None:
        """Settle for ever."""
        while True:
            self.settle(self._gather())

    def settle(self, batch: Sequence[tuple[Held, Ended]]) -> None:
        """Settle a batch; while the database is away, as long as the leases may hold."""
        left = list(batch)
        while left:
            try:
                settle([ended for _, ended in left], jobs=self._jobs, settling=self._settling)
            except DatabaseUnavailable as silent:
                left = self._still_ours(left, str(silent))
                self._clock.sleep(REPEAT_SECONDS)
            else:
                break
        for held, _ in batch:
            self._hand.drop(held)
        gave_way = [one for _, one in batch if isinstance(one.outcome, Spill)]
        self._admitter.wake(one.lease.job.id for one in gave_way)

    def _gather(self) -> list[tuple[Held, Ended]]:
        batch = [self._queue.get()]
        # Runs that end at this very moment may put theirs first; nobody waits for them.
        self._clock.sleep(0)
        while not self._queue.empty():
            batch.append(self._queue.get())
        return batch

    def _still_ours(
        self, batch: Sequence[tuple[Held, Ended]], why: str
    ) -> list[tuple[Held, Ended]]:
        kept = []
        for held, ended in batch:
            try:
                held.check()
            except LeaseLost as lost:
                structlog.get_logger().warning(
                    "lease.lost", job=held.lease.job.id, reason=str(lost), error=why
                )
                self._hand.drop(held)
            else:
                kept.append((held, ended))
        return kept


class Slots:
    """A fixed number of threads, one leased job in each."""

    def __init__(self, count: int, *, consumer: Consumer, settler: Settler) -> None:
        """Start the threads; they are daemons, so a hung handler cannot keep the process."""
        self._consumer = consumer
        self._settler = settler
        self._work: queue.SimpleQueue[Held] = queue.SimpleQueue()
        self._count = count
        self._free = count
        self._wanted = 0
        self._changed = threading.Condition()
        for number in range(count):
            threading.Thread(target=self._serve, name=f"slot-{number}", daemon=True).start()

    def free(self, *, wait_seconds: float) -> int:
        """Give how many slots are free, after waiting for one at most so long.

        Where some are not, it lingers a moment for the rest: one read for many short jobs costs
        as much as one read for a single job.
        """
        with self._changed:
            if self._free or self._wait_for(1, wait_seconds):
                self._wait_for(self._count, LINGER_SECONDS)
            return self._free

    def start(self, held: Held) -> None:
        """Run a leased job in a free slot."""
        with self._changed:
            self._free -= 1
        self._work.put(held)

    def _wait_for(self, wanted: int, seconds: float) -> bool:
        self._wanted = wanted
        enough = self._changed.wait_for(lambda: self._free >= wanted, timeout=seconds)
        self._wanted = 0
        return enough

    def _serve(self) -> None:
        while True:
            held = self._work.get()
            outcome = self._consumer.run(held)
            ended = Ended(held.lease, held.delivery, outcome, row_ended=held.ended)
            self._settler.put(held, ended)
            with self._changed:
                self._free += 1
                if self._free == self._wanted:
                    self._changed.notify()
