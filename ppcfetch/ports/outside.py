"""The world outside: the archive, how often it may be asked, and time."""

from datetime import timedelta
from typing import Protocol

from ppcfetch.errors import Retryable
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.job import Pool


class Clock(Protocol):
    """Time inside one process; never compared between processes."""

    def monotonic(self) -> float:
        """Give seconds that only grow; their zero means nothing."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    def random(self) -> float:
        """Give a number from 0 to 1 for jitter."""
        ...


class Archive(Protocol):
    """The public ad archive."""

    def page(self, query: Query, cursor: str | None) -> ArchivePage:
        """Ask for one page of a walk; cursor None is the first one.

        Raises: ArchiveUnavailable, ArchiveThrottled, ArchiveBlocked, ArchiveRejected,
        ArchiveChanged. Never asks twice and never waits beyond its own deadline.
        """
        ...


class Pace(Protocol):
    """How often the archive may be asked, shared by all workers, and when it must rest."""

    def ask(self, pool: Pool) -> timedelta:
        """Count one call and give zero, or count nothing and give how long to wait first."""
        ...

    def went_well(self) -> None:
        """Tell that a call was answered; recovers the pace slowly and closes the breaker."""
        ...

    def went_badly(self, error: Retryable) -> timedelta | None:
        """Tell of a failed call; gives how long nobody may call, None when calls may go on."""
        ...
