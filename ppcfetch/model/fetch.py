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


class FetchKind(StrEnum):
    """How far a fetch walks: to the end, or down to what the last complete one has seen."""

    FULL = "full"
    REFRESH = "refresh"


class FetchReason(StrEnum):
    """Why a fetch was asked for; decides the pool of its first job."""

    PERSON = "person"
    COMMAND = "command"
    IMPORT = "import"
    SCHEDULE = "schedule"


def asker_of(reason: FetchReason, asked_by: int | None) -> int:
    """Give in whose line a fetch waits: a person's number, or one for all of the same reason."""
    if asked_by is not None:
        return asked_by
    return {FetchReason.IMPORT: -1, FetchReason.SCHEDULE: -2}.get(reason, 0)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far back a fetch has to look.

    Shape: full asks for a walk to the end whatever is held. Units: full_every is how old the last
    full walk may be for a refresh to do; overlap is how far a refresh looks behind the mark.
    """

    full: bool = False
    full_every: timedelta = timedelta(days=30)
    overlap: timedelta = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Fetch:
    """One refresh of one domain.

    Shape: finished_at is None while active; error is None unless something went wrong;
    unseen is None until a full walk has ended; until is how far back a refresh looked, None for
    a full walk; in_order is False once a page broke the archive's order, which makes a refresh a
    full walk; shrunk tells that a full walk found next to nothing of what was there. parts is
    into how many walks it was split, 0 when it was not, top_ups how many walks read what was
    shown meanwhile; both are told as long as its jobs are kept.
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
    kind: FetchKind = FetchKind.FULL
    until: datetime | None = None
    in_order: bool = True
    shrunk: bool = False
    parts: int = 0
    top_ups: int = 0

    @property
    def is_refresh(self) -> bool:
        """Whether it looks no further back than to what the last complete fetch has seen."""
        return self.kind is FetchKind.REFRESH and self.until is not None


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


SMALLEST_TO_SHRINK = 20
SHRUNK_TO = 0.05


def told_kind(fetch: Fetch) -> str:
    """Say how far a fetch walks, and in which pieces, for people."""
    told = ["a full walk"]
    if fetch.is_refresh:
        told = [f"a refresh down to {fetch.until:%Y-%m-%d}"]
    elif not fetch.in_order:
        told.append("since the archive broke its order")
    if fetch.parts:
        told.append(f"in {fetch.parts:,} parts")
    if fetch.top_ups:
        times = {1: "once", 2: "twice"}.get(fetch.top_ups, f"{fetch.top_ups:,} times")
        told.append(f"topped up {times}")
    return ", ".join(told)


def kind_of(
    mark: datetime | None,
    walked_at: datetime | None,
    *,
    now: datetime,
    full_every: timedelta,
    full: bool,
) -> FetchKind:
    """Decide how far a new fetch walks.

    Shape: mark is None when nothing complete is held; full asks for a full walk in any case.
    """
    if full or mark is None or walked_at is None or now - walked_at >= full_every:
        return FetchKind.FULL
    return FetchKind.REFRESH


def has_shrunk(found: int, before: int) -> bool:
    """Tell whether a full walk found next to nothing of what was there before.

    Such an answer is rather a fault of the archive than the truth: nothing is concluded from it.
    """
    return before >= SMALLEST_TO_SHRINK and found < before * SHRUNK_TO


def outcome_of(done: int, dead: int, cancelled: int) -> FetchState:
    """Decide how a fetch ended from how many of its jobs ended in which way."""
    if cancelled:
        return FetchState.CANCELLED
    if dead:
        return FetchState.PARTIAL if done else FetchState.FAILED
    return FetchState.DONE
