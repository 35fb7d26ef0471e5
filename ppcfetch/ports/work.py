"""Work in hand: what a handler sees, and what a worker process may touch."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from ppcfetch.model.lease import Holder, Lease
from ppcfetch.ports.operations import Pauses
from ppcfetch.ports.outside import Clock
from ppcfetch.ports.rows import Due, Jobs, Progress
from ppcfetch.ports.stream import Census, Deliveries, Doorbell, Settling


class Run(Protocol):
    """One lease in a worker's hand, as the handler sees it."""

    @property
    def lease(self) -> Lease:
        """The lease as after the last committed page."""
        ...

    def check(self) -> None:
        """Raises: LeaseLost when told so, or when the local deadline has passed."""
        ...

    def advanced(self, progress: Progress) -> None:
        """Note a committed page: the only sign of life that counts."""
        ...


class Name(Protocol):
    """The consumer name that a process bears, and its lock."""

    def keep(self) -> None:
        """Renew the lock. Raises: NameLost when another process bears the name."""
        ...

    def release(self) -> None:
        """Give the name free, if it is still ours."""
        ...


Handler = Callable[[Run], Iterator[Progress | None]]
"""Runs a job: yields each committed page, and None at other moments when it may be stopped."""

Schedule = Callable[[], int]
"""Asks for watched domains that have grown old; gives how many."""


def nothing_scheduled() -> int:
    """Ask for nothing: the schedule is off."""
    return 0


@dataclass(frozen=True, slots=True)
class WorkerPorts:
    """All that a worker process may touch.

    Shape: those named `beat_…` and `name` have connections of their own, so that no handler's
    statement and no blocking read can hold a renewal up.
    """

    holder: Holder
    name: Name
    jobs: Jobs
    beat_jobs: Jobs
    deliveries: Deliveries
    settling: Settling
    beat_settling: Settling
    due: Due
    doorbell: Doorbell
    census: Census
    pauses: Pauses
    handler: Handler
    clock: Clock
    schedule: Schedule = nothing_scheduled


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What one sweep did; zero but for admitted and scheduled on a healthy system."""

    admitted: int = 0
    published: int = 0
    orphans: int = 0
    closed: int = 0
    pruned: int = 0
    forgotten: int = 0
    scheduled: int = 0
    rebuilt: bool = False
