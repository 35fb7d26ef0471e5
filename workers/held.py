"""The leases in a process's hand, and what is known of each.

All threads of a worker meet here; times are monotonic seconds of this process.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from ppcfetch.errors import LeaseLost
from ppcfetch.model.lease import Delivery, Lease, Limits
from ppcfetch.ports import Progress


class Held:
    """One lease in hand, as its handler and the heartbeat see it (port `Run`)."""

    def __init__(
        self,
        lease: Lease,
        delivery: Delivery,
        *,
        limits: Limits,
        now: Callable[[], float],
        asked: float,
    ) -> None:
        """Begin a lease; asked is when `take` was sent, the first accepted beat."""
        self._lease = lease
        self.delivery = delivery
        self.ended = False
        self.pages = 0
        self.began = asked
        self.told_at: float | None = None
        self._why = ""
        self._accepted = asked
        self._progressed = asked
        self._limits = limits
        self._now = now

    @property
    def lease(self) -> Lease:
        """The lease as after the last committed page."""
        return self._lease

    def check(self) -> None:
        """Return while the lease may be believed in. Raises: LeaseLost."""
        if self.told_at is not None:
            raise LeaseLost(self._why)
        silence = self._now() - self._accepted
        if silence > self._limits.local_deadline.total_seconds():
            message = f"no beat of job {self._lease.job.id} was accepted for {silence:.1f} s"
            raise LeaseLost(message)

    def advanced(self, progress: Progress) -> None:
        """Note a committed page; the write was fenced, so it proves the lease as a beat does."""
        self._lease = replace(self._lease, job=progress.job)
        self.pages += 1
        self.ended = progress.ended
        self._progressed = self._now()

    def beaten(self, sent: float) -> None:
        """Note that a beat sent at that time was accepted."""
        self._accepted = max(self._accepted, sent)

    def lose(self, why: str) -> None:
        """Tell the handler to stop, once."""
        if self.told_at is None:
            self._why = why
            self.told_at = self._now()

    def is_stalled(self) -> bool:
        """Tell whether the handler made no progress for the stall limit."""
        return self._now() - self._progressed > self._limits.stall.total_seconds()

    def ignores_being_told(self) -> bool:
        """Tell whether the handler still runs a lease after it was told to stop."""
        told = self.told_at
        return told is not None and self._now() - told > self._limits.lease.total_seconds()


class Hand:
    """All leases of a process, from `take` until their outcome is settled."""

    def __init__(self) -> None:
        """Begin with empty hands."""
        self._lock = threading.Lock()
        self._held: dict[int, Held] = {}
        self._older: list[Held] = []

    def add(self, held: Held) -> None:
        """Take a lease in hand; an older one of the same job is told, and stays until dropped."""
        job_id = held.lease.job.id
        with self._lock:
            older = self._held.get(job_id)
            if older is not None:
                # Its handler may hang in its slot: forgotten, it would never be seen to.
                older.lose(f"job {job_id} was leased again by this process")
                self._older.append(older)
            self._held[job_id] = held

    def drop(self, held: Held) -> None:
        """Let go of a lease; a newer lease of the same job stays."""
        with self._lock:
            if self._held.get(held.lease.job.id) is held:
                del self._held[held.lease.job.id]
            elif held in self._older:
                self._older.remove(held)

    def all(self) -> Sequence[Held]:
        """Give the leases in hand now."""
        with self._lock:
            return (*self._older, *self._held.values())

    def of(self, job_id: int) -> Held | None:
        """Give the newest lease of a job, None when it is not in hand."""
        with self._lock:
            return self._held.get(job_id)

    def message_ids(self) -> frozenset[str]:
        """Give the messages whose deliveries are in hand."""
        return frozenset(held.delivery.token.message_id for held in self.all())
