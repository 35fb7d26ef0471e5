"""The world outside: the archive, how often it may be asked, and time."""

from datetime import timedelta
from typing import Protocol

from ppcfetch.errors import Retryable
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.egress import Permit
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

    def page(self, query: Query, cursor: str | None, *, via: str) -> ArchivePage:
        """Ask for one page of a walk over an egress; cursor None is the first one.

        Shape: a page without ads and next cursor says that nothing is (left) there; behind a
        cursor, ads that were shown again meanwhile may have left none, or the archive is mistaken.
        Raises: ArchiveUnavailable, ArchiveThrottled, ArchiveBlocked, ArchiveRejected,
        ArchiveChanged. Never asks twice and never waits beyond its own deadline.
        """
        ...


class Pace(Protocol):
    """How often each egress may ask the archive, shared by all workers, and when it must rest."""

    def ask(self, pool: Pool) -> Permit | timedelta:
        """Count one call and give leave for it, or count nothing and give how long to wait."""
        ...

    def went_well(self, permit: Permit) -> None:
        """Tell that a call was answered; recovers the pace slowly and closes the breaker."""
        ...

    def went_badly(self, permit: Permit, error: Retryable) -> timedelta | None:
        """Tell of a failed call; None when calls over its egress may go on.

        Else the egress rests, and this is the time until some egress may call again: zero when
        another one is free.
        """
        ...
