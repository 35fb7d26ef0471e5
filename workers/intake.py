"""What a worker looks at next: its own history, the abandoned, the forgotten, the new."""

from collections.abc import Sequence
from datetime import timedelta

from ppcfetch.model.lease import Delivery, Limits
from ppcfetch.ports import WorkerPorts
from workers.held import Hand

LOOK = 100
LONGEST_BLOCK = timedelta(seconds=2)


class Intake:
    """The order of looking; one thread uses it."""

    def __init__(self, parts: WorkerPorts, *, hand: Hand, limits: Limits) -> None:
        """Begin with the history of our name, as a process that has just started must."""
        self._deliveries = parts.deliveries
        self._jobs = parts.jobs
        self._hand = hand
        self._limits = limits
        self._clock = parts.clock
        self._history_after: str | None = "0"
        self._reclaim_at = self._clock.monotonic()
        self._reconcile_at = self._clock.monotonic() + limits.lease.total_seconds()

    def next(self, free: int) -> Sequence[Delivery]:
        """Give at most `free` deliveries, waiting a moment for new ones when there is nothing else.

        Raises: NameLost, StreamUnavailable, DatabaseUnavailable.
        """
        return (
            self._history(free)
            or self._abandoned(free)
            or self._forgotten(free)
            or self._deliveries.receive(free, min(self._limits.renew, LONGEST_BLOCK))
        )

    def _history(self, free: int) -> Sequence[Delivery]:
        """Walk what our name held before, once, by id, as slots are free."""
        if self._history_after is None:
            return ()
        found = self._deliveries.history(self._history_after, free)
        self._history_after = found[-1].token.message_id if found else None
        return found

    def _abandoned(self, free: int) -> Sequence[Delivery]:
        """Look before claiming, to the end of the list, behind vetoed entries too."""
        if self._clock.monotonic() < self._reclaim_at:
            return ()
        claimed: list[Delivery] = []
        after = "0"
        while len(claimed) < free and (found := self._deliveries.abandoned(after, LOOK)):
            after = found[-1].token.message_id
            vetoed = self._jobs.vetoed([d.job_id for d in found if d.job_id is not None])
            wanted = [d for d in found if d.job_id not in vetoed][: free - len(claimed)]
            claimed.extend(self._deliveries.claim(wanted) if wanted else ())
        if not claimed:
            self._reclaim_at = self._clock.monotonic() + self._limits.renew.total_seconds()
        return claimed

    def _forgotten(self, free: int) -> Sequence[Delivery]:
        """Find what a lost answer left pending under our own name."""
        if self._clock.monotonic() < self._reconcile_at:
            return ()
        found = self._deliveries.reconcile(self._hand.message_ids(), free)
        if not found:
            self._reconcile_at = self._clock.monotonic() + self._limits.lease.total_seconds()
        return found
