"""The stream: the doorbell of the lease protocol."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Protocol

from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Token


class Doorbell(Protocol):
    """Publishing: the stream holds at most one live message a job."""

    def publish(self, jobs: Sequence[tuple[int, Pool]]) -> int:
        """Ring for jobs that have no live message; gives how many messages were added.

        One that waits, in no hand, in another pool than the job's is replaced by one in its own.
        Safe to repeat, by anybody, at any time.
        """
        ...


class Deliveries(Protocol):
    """One consumer's end of one pool's stream."""

    def receive(self, count: int, block: timedelta) -> Sequence[Delivery]:
        """Wait for new messages, at most count; empty when none came.

        Not safe to repeat: what a lost answer held stays pending under our name until
        `reconcile` finds it.
        """
        ...

    def accept(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Keep those whose token is still ours, idle set to 0, directly before `take`.

        Raises: NameLost when another process bears our name.
        """
        ...

    def history(self, after: str, count: int) -> Sequence[Delivery]:
        """Claim own pending entries behind the id `after`, from "0" on; empty at the end.

        Raises: NameLost.
        """
        ...

    def reconcile(self, in_hand: Collection[str], count: int) -> Sequence[Delivery]:
        """Claim own pending entries idle for a lease that no slot holds. Raises: NameLost."""
        ...

    def abandoned(self, after: str, count: int) -> Sequence[Delivery]:
        """Look, without claiming, at others' entries idle for a lease, behind the id `after`."""
        ...

    def claim(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Claim those still idle for a lease; of two rescuers one wins. Raises: NameLost."""
        ...


class Settling(Protocol):
    """Ends of deliveries; each does nothing unless the token is still ours."""

    def renew(self, tokens: Sequence[Token]) -> frozenset[str]:
        """Set the entries that bear our token to idle 0; gives the message ids renewed."""
        ...

    def settle(self, deliveries: Sequence[Delivery]) -> int:
        """Acknowledge and delete entries and forget them as live; gives how many were ours."""
        ...

    def move(self, deliveries: Sequence[Delivery], pool: Pool) -> int:
        """Publish again in the pool and settle the old entry in one step; gives how many."""
        ...

    def dead_letter(self, delivery: Delivery, reason: str) -> bool:
        """Add to the dead stream, then settle, in one step; False when not ours."""
        ...


class Census(Protocol):
    """What the sweeper asks of the stream, exactly and not by the clock."""

    def epoch(self) -> str | None:
        """Give the value that Redis bears, None when it lost everything."""
        ...

    def restore(self, epoch: str) -> None:
        """Bear the database's value; called after everything active was published."""
        ...

    def ensure_groups(self) -> None:
        """Make the groups at 0 where they are absent; destroys nothing."""
        ...

    def delete_orphans(self) -> int:
        """Delete entries at or before last-delivered-id that nobody has pending."""
        ...

    def forget_consumers(self) -> Sequence[str]:
        """Remove consumers that hold nothing, have been idle a day and whose name is free."""
        ...
