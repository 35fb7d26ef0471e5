"""A fetch: one refresh of one domain, as a person sees it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from ppcfetch.model.ad import TotalRange
from ppcfetch.model.domain import DomainName


class FetchState(StrEnum):
    """Where a fetch is. ACTIVE becomes one of the others exactly once, unless reopened."""

    ACTIVE = "active"
    DONE = "done"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class FetchReason(StrEnum):
    """Why a fetch was asked for; decides the pool of its first job."""

    PERSON = "person"
    COMMAND = "command"
    IMPORT = "import"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class Fetch:
    """One refresh of one domain.

    Shape: finished_at is None while active; error is None unless something went wrong;
    unseen is None until a full walk has ended.
    """

    id: int
    domain: DomainName
    state: FetchState
    reason: FetchReason
    asked_by: int | None
    asked_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    total: TotalRange | None
    pages: int
    found: int
    new: int
    changed: int
    unseen: int | None
    warnings: int
    error: str | None


@dataclass(frozen=True, slots=True)
class Freshness:
    """How old what we hold of a domain is, and whether the page may ask by itself.

    Shape: checked_at is the end of the last fetch that read the domain to its end, attempted_at
    that of the last fetch of any outcome; None when there was none.
    """

    checked_at: datetime | None
    attempted_at: datetime | None

    def is_stale(self, now: datetime, window: timedelta) -> bool:
        """Tell whether the domain was not read to its end within the window."""
        return self.checked_at is None or now - self.checked_at >= window

    def asks_by_itself(self, now: datetime, window: timedelta) -> bool:
        """Tell whether opening the page may ask for a fetch: stale, and nobody tried lately."""
        tried = self.attempted_at is not None and now - self.attempted_at < window
        return self.is_stale(now, window) and not tried


def outcome_of(done: int, dead: int, cancelled: int) -> FetchState:
    """Decide how a fetch ended from how many of its jobs ended in which way."""
    if cancelled:
        return FetchState.CANCELLED
    if dead:
        return FetchState.PARTIAL if done else FetchState.FAILED
    return FetchState.DONE
