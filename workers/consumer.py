"""Run one delivery: from its lease to the outcome that its end means.

The one place that catches every exception: whatever a handler does, the row learns of it.
"""

import threading
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from ppcfetch.errors import PpcFetchError
from ppcfetch.model.lease import Budget
from ppcfetch.model.outcome import Done, HandBack, Outcome, Spill, decide
from ppcfetch.ports import Clock, Handler
from workers.held import Held


@dataclass(frozen=True, slots=True)
class Consumer:
    """What running a delivery needs.

    Shape: budget is how long a job may go on before others have their turn, None for ever; paused
    is set while the pool must not work.
    """

    handler: Handler
    clock: Clock
    stopping: threading.Event
    budget: Budget | None
    max_attempts: int
    paused: threading.Event = field(default_factory=threading.Event)

    def run(self, held: Held) -> Outcome:
        """Run a leased job until it ends, must stop, or fails; gives what its end means."""
        try:
            return self._walk(held)
        except Exception as error:  # noqa: BLE001 - whatever a handler raises ends its run only
            if not isinstance(error, PpcFetchError):
                structlog.get_logger().exception("handler.failed", job=held.lease.job.id)
            return decide(
                error,
                held.lease.job,
                max_attempts=self.max_attempts,
                jitter=self.clock.random(),
            )

    def _walk(self, held: Held) -> Outcome:
        for progress in self.handler(held):
            if held.ended:
                continue
            if self.stopping.is_set() or self.paused.is_set():
                return HandBack()
            if progress is not None and self._must_give_way(held):
                return Spill()
        return Done()

    def _must_give_way(self, held: Held) -> bool:
        if self.budget is None:
            return False
        spent = timedelta(seconds=self.clock.monotonic() - held.began)
        return self.budget.is_used_up(pages=held.pages, spent=spent)
