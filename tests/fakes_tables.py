"""The database in memory: rows, a virtual clock, faults, and the end of fetches.

What the SQL does in one transaction is one call under one lock here. Nothing is changed before
everything was checked, so that a refusal leaves no trace.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import RLock

from ppcfetch.adapters.database.keeping import Keeping
from ppcfetch.errors import DatabaseUnavailable
from ppcfetch.model.ad import Ad, TotalRange
from ppcfetch.model.fetch import Fetch, FetchState, outcome_of
from ppcfetch.model.job import ACTIVE, Job, JobState, Pool
from ppcfetch.model.lease import Holder, Limits
from ppcfetch.model.operation import Deed, Noted, Pause

ZERO = datetime(2026, 1, 1, tzinfo=UTC)
LIMITS = Limits(
    lease=timedelta(seconds=60),
    renew=timedelta(seconds=15),
    stall=timedelta(seconds=180),
    max_starts=3,
    max_attempts=5,
)
KEEPING = Keeping(
    fetches=timedelta(days=60), jobs=timedelta(days=30), page_log=timedelta(days=7), batch=100
)


@dataclass(slots=True)
class JobRow:
    """A job and what only the database knows of it."""

    job: Job
    due_at: datetime
    holder: Holder | None = None
    request: str | None = None
    start_given_back: bool = False
    beat_at: datetime = ZERO
    progressed_at: datetime | None = None
    finished_at: datetime | None = None
    discarded: bool = False

    def change(self, **values: object) -> None:
        """Write columns of the job."""
        self.job = replace(self.job, **values)  # type: ignore[arg-type]


@dataclass(slots=True)
class DomainRow:
    """A domain's marks and counters."""

    checked_at: datetime | None = None
    attempted_at: datetime | None = None
    complete_fetch_id: int | None = None
    total: TotalRange | None = None
    ads: int = 0


@dataclass(slots=True)
class AdRow:
    """An ad as it is held, and the fetches that saw it first, last, and last changed."""

    ad: Ad
    first_fetch_id: int
    last_fetch_id: int
    changed_fetch_id: int | None = None


@dataclass(frozen=True, slots=True)
class LoggedPage:
    """A line of the page log."""

    fence: int
    holder: Holder
    new: int
    changed: int
    written_at: datetime


@dataclass(slots=True)
class Tables:
    """Everything that is stored, and the ways to reach it.

    Shape: `down` refuses every call; `lose_next_reply` does the next one and loses its answer.
    Units: now gives seconds; `advance` adds to them.
    """

    limits: Limits = LIMITS
    keeping: Keeping = KEEPING
    now: Callable[[], float] = lambda: 0.0
    down: bool = False
    lose_next_reply: bool = False
    jobs: dict[int, JobRow] = field(default_factory=dict)
    fetches: dict[int, Fetch] = field(default_factory=dict)
    domains: dict[str, DomainRow] = field(default_factory=dict)
    ads: dict[tuple[str, str, str], AdRow] = field(default_factory=dict)
    advertisers: dict[str, str | None] = field(default_factory=dict)
    page_log: dict[tuple[int, int], LoggedPage] = field(default_factory=dict)
    turn: tuple[Holder, datetime] | None = None
    pauses: dict[Pool, Pause] = field(default_factory=dict)
    audit: list[Noted] = field(default_factory=list)
    numbers: Counter[str] = field(default_factory=Counter)
    _ahead: timedelta = timedelta(0)
    _one_at_a_time: RLock = field(default_factory=RLock)

    def advance(self, length: timedelta) -> None:
        """Let time pass."""
        self._ahead += length

    def moment(self) -> datetime:
        """The database's clock."""
        return ZERO + timedelta(seconds=self.now()) + self._ahead

    def next(self, sequence: str) -> int:
        """Give the next number of a sequence."""
        self.numbers[sequence] += 1
        return self.numbers[sequence]

    @contextmanager
    def call(self) -> Iterator[None]:
        """One transaction."""
        with self._one_at_a_time:
            if self.down:
                raise DatabaseUnavailable("the database is away")
            yield
            if self.lose_next_reply:
                self.lose_next_reply = False
                raise DatabaseUnavailable("the database's answer was lost")

    def keep(self, deed: Deed, target: str) -> None:
        """Keep a deed in the audit."""
        self.audit.append(Noted(self.moment(), deed, target))

    def jobs_of(self, fetch_id: int) -> list[JobRow]:
        """Give the jobs of a fetch in id order."""
        return [row for _, row in sorted(self.jobs.items()) if row.job.fetch_id == fetch_id]

    def start(self, fetch_id: int) -> None:
        """Note the first lease of a fetch."""
        fetch = self.fetches[fetch_id]
        self.fetches[fetch_id] = replace(fetch, started_at=fetch.started_at or self.moment())

    def close(self, fetch_ids: Collection[int]) -> frozenset[int]:
        """End those active fetches that have no active job left."""
        over = [
            fetch_id
            for fetch_id in fetch_ids
            if fetch_id in self.fetches
            and self.fetches[fetch_id].state is FetchState.ACTIVE
            and all(row.job.state not in ACTIVE for row in self.jobs_of(fetch_id))
        ]
        for fetch_id in over:
            self._end(fetch_id)
        return frozenset(over)

    def _end(self, fetch_id: int) -> None:
        rows = self.jobs_of(fetch_id)
        count = Counter(row.job.state for row in rows)
        done, dead = count[JobState.DONE], count[JobState.DEAD]
        state = outcome_of(done, dead, count[JobState.CANCELLED])
        error = next((row.job.error for row in rows if row.job.state is JobState.DEAD), None)
        if state is FetchState.CANCELLED:
            error = None
        if not rows:
            state, error = FetchState.FAILED, "its jobs are gone"
        self._note_end(fetch_id, state, error)

    def _note_end(self, fetch_id: int, state: FetchState, error: str | None) -> None:
        fetch, moment = self.fetches[fetch_id], self.moment()
        domain = self.domains[fetch.domain.name]
        complete = state is FetchState.DONE
        unseen = max(domain.ads - fetch.found, 0) if complete else None
        self.fetches[fetch_id] = replace(
            fetch, state=state, finished_at=moment, error=error, unseen=unseen
        )
        domain.attempted_at = moment
        domain.total = fetch.total or domain.total
        if complete:
            domain.checked_at = moment
            domain.complete_fetch_id = max(domain.complete_fetch_id or 0, fetch_id)
