"""Keep leases alive, and only those that deserve it.

A daemon thread with its own connections: it dies with the process, no handler can starve it,
and it is the last thing to stop. The database is told first, because the row decides; Redis
only hears that the delivery is still in good hands.
"""

import faulthandler
import sys
import threading
from collections.abc import Callable, Sequence

import structlog

from ppcfetch.errors import DatabaseUnavailable, NameLost, StreamUnavailable
from ppcfetch.model.lease import Limits
from ppcfetch.ports import WorkerPorts
from workers.held import Hand, Held

EXIT_NAME_LOST = 75
EXIT_STUCK = 70


class Heartbeat:
    """The renewing of all leases in hand, every `limits.renew`."""

    def __init__(self, parts: WorkerPorts, *, hand: Hand, limits: Limits) -> None:
        """Prepare; nothing is sent before the first round."""
        self._hand = hand
        self._jobs = parts.beat_jobs
        self._settling = parts.beat_settling
        self._name = parts.name
        self._limits = limits
        self._clock = parts.clock
        self._started_back: set[tuple[int, int]] = set()
        self._gives_back = True

    def round(self, *, stopping: bool) -> None:
        """Beat once: rows, deliveries, our name, in this order.

        Raises: NameLost. An unavailable database or Redis changes nothing: handlers go on until
        their local deadline.
        """
        held = self._hand.all()
        alive = self._alive(held)
        if stopping and self._gives_back:
            # Not of handlers that were told: a process that leaves since one hangs must count it.
            self._give_back_starts(alive)
        self._beat(alive)
        try:
            self._renew(alive)
            self._name.keep()
        except StreamUnavailable as silent:
            structlog.get_logger().warning("renewal.unknown", error=str(silent))

    def stuck(self) -> Sequence[Held]:
        """Give the leases whose handler still runs a lease after it was told to stop."""
        return [held for held in self._hand.all() if held.ignores_being_told()]

    def keep_starts(self) -> None:
        """Give no starts back from now on: the process ends by a fault that a job may have made."""
        self._gives_back = False

    def _alive(self, held: Sequence[Held]) -> list[Held]:
        for one in held:
            if one.is_stalled() and not one.ended:
                one.lose(f"no progress for {self._limits.stall.total_seconds():g} s")
        return [one for one in held if one.told_at is None]

    def _beat(self, alive: Sequence[Held]) -> None:
        if not alive:
            return
        sent = self._clock.monotonic()
        try:
            still_ours = self._jobs.beat([one.lease for one in alive])
        except DatabaseUnavailable as silent:
            structlog.get_logger().warning("beat.unknown", error=str(silent))
            return
        for one in alive:
            if one.lease.job.id in still_ours:
                one.beaten(sent)
            elif not one.ended:
                one.lose(f"job {one.lease.job.id} was leased again or cancelled")

    def _renew(self, alive: Sequence[Held]) -> None:
        if alive:
            # What is not ours any more stops no handler: the fence protects its work, and
            # whoever holds the delivery now will settle it.
            self._settling.renew([one.delivery.token for one in alive])

    def _give_back_starts(self, held: Sequence[Held]) -> None:
        """Return the starts before anything else, so that a kill at the end costs nothing."""
        due = [o for o in held if (o.lease.job.id, o.lease.fence) not in self._started_back]
        if not due:
            return
        try:
            self._jobs.give_back_starts([one.lease for one in due])
        except DatabaseUnavailable as silent:
            structlog.get_logger().warning("starts.unknown", error=str(silent))
            return
        self._started_back |= {(one.lease.job.id, one.lease.fence) for one in due}


def beat_until(
    finished: threading.Event,
    *,
    heartbeat: Heartbeat,
    stopping: threading.Event,
    limits: Limits,
    leave: Callable[[int], None],
) -> None:
    """Beat until finished; the body of the daemon thread.

    Wakes at once when the process is asked to stop. `leave` gets the exit code when another
    process bears our name (it must not return) or when a handler ignores being told (it lets
    the other jobs be handed back while we go on beating for them).
    """
    told = False
    while not finished.is_set():
        try:
            heartbeat.round(stopping=stopping.is_set())
        except NameLost as lost:
            structlog.get_logger().error("name.lost", error=str(lost))
            leave(EXIT_NAME_LOST)
            return
        if not told and (stuck := heartbeat.stuck()):
            told = True
            structlog.get_logger().error(
                "handler.stuck", jobs=[held.lease.job.id for held in stuck]
            )
            faulthandler.dump_traceback(file=sys.stderr, all_threads=True)
            leave(EXIT_STUCK)
        (finished if stopping.is_set() else stopping).wait(limits.renew.total_seconds())
