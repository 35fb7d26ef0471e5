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

from ppcfetch.adapters.database.closing import FEWEST_TOP_UPS, MOST_TOP_UPS
from ppcfetch.adapters.database.keeping import Keeping
from ppcfetch.errors import DatabaseUnavailable
from ppcfetch.model.ad import Ad, Query, TotalRange
from ppcfetch.model.admission import Admission
from ppcfetch.model.fetch import Fetch, FetchKind, FetchState, has_shrunk, outcome_of
from ppcfetch.model.job import ACTIVE, Checkpoint, Job, JobKind, JobState, Pool
from ppcfetch.model.lease import Holder, Limits
from ppcfetch.model.operation import Deed, Noted, Pause
from ppcfetch.model.walk_words import told_of_dead, walk_in_words

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
    fresh: int = 0
    admitted: bool = True
    asker: int = 0
    parent_id: int | None = None

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
    mark: datetime | None = None
    walked_at: datetime | None = None
    walked_ads: int | None = None


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
    start_marks: dict[int, datetime | None] = field(default_factory=dict)
    domains: dict[str, DomainRow] = field(default_factory=dict)
    followers: dict[int, list[int]] = field(default_factory=dict)
    ads: dict[tuple[str, str, str], AdRow] = field(default_factory=dict)
    advertisers: dict[str, str | None] = field(default_factory=dict)
    page_log: dict[tuple[int, int], LoggedPage] = field(default_factory=dict)
    admission: Admission = Admission()  # noqa: RUF009 -- frozen
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
        return frozenset(fetch_id for fetch_id in over if self._end(fetch_id))

    def _end(self, fetch_id: int) -> bool:
        """End a fetch, unless what moved behind its back has to be walked first."""
        rows = self.jobs_of(fetch_id)
        count = Counter(row.job.state for row in rows)
        done, dead = count[JobState.DONE], count[JobState.DEAD]
        state = outcome_of(done, dead, count[JobState.CANCELLED])
        if rows and state is FetchState.DONE and self._tops_up(fetch_id, rows):
            return False
        error = None if state is FetchState.CANCELLED else _error_of(rows)
        if not rows:
            state, error = FetchState.FAILED, "its jobs are gone"
        self._note_end(fetch_id, state, error)
        return True

    def _tops_up(self, fetch_id: int, rows: list[JobRow]) -> bool:
        fetch, latest = self.fetches[fetch_id], rows[-1]
        number = sum(row.job.kind is JobKind.TOP_UP for row in rows)
        until = self.start_marks.get(fetch_id)
        if until is None or not fetch.in_order:
            return False
        needed = fetch.pages > 1
        if latest.job.kind is JobKind.TOP_UP:
            finds = latest.fresh > 0 or number < FEWEST_TOP_UPS
            needed = latest.job.pages > 1 and finds and number < MOST_TOP_UPS
            until = latest.job.checkpoint.newest or latest.job.checkpoint.until
        if needed:
            self._queue_top_up(latest.job, until)
        return needed

    def _queue_top_up(self, latest: Job, until: datetime | None) -> None:
        job = replace(
            latest,
            id=self.next("jobs"),
            kind=JobKind.TOP_UP,
            query=Query(latest.query.domain),
            state=JobState.QUEUED,
            fence=0,
            starts=0,
            attempts=0,
            pages=0,
            checkpoint=Checkpoint(until=until),
            error=None,
        )
        walked = self.jobs[latest.id]
        self.jobs[job.id] = JobRow(job, walked.due_at, admitted=False, asker=walked.asker)

    def _note_end(self, fetch_id: int, state: FetchState, error: str | None) -> None:
        fetch, moment = self.fetches[fetch_id], self.moment()
        domain = self.domains[fetch.domain.name]
        complete = state is FetchState.DONE
        walked = complete and fetch.kind is FetchKind.FULL
        before = domain.ads - fetch.new if domain.walked_ads is None else domain.walked_ads
        shrunk = walked and has_shrunk(fetch.found, before)
        tops = sum(row.job.kind is JobKind.TOP_UP for row in self.jobs_of(fetch_id))
        believed = walked and fetch.in_order and not shrunk and tops < MOST_TOP_UPS
        unseen = max(domain.ads - fetch.found, 0) if believed else None
        self.fetches[fetch_id] = replace(
            fetch, state=state, finished_at=moment, error=error, unseen=unseen, shrunk=shrunk
        )
        if complete and fetch_id >= (domain.complete_fetch_id or 0):
            trusted = fetch.in_order and not shrunk
            domain.mark = self.start_marks.get(fetch_id) if trusted else None
            if walked and not shrunk:
                domain.walked_at, domain.walked_ads = moment, fetch.found
        domain.attempted_at = moment
        domain.total = fetch.total or domain.total
        if complete:
            domain.checked_at = moment
            domain.complete_fetch_id = max(domain.complete_fetch_id or 0, fetch_id)


def _error_of(rows: list[JobRow]) -> str | None:
    dead = [row.job for row in rows if row.job.state is JobState.DEAD]
    if not dead:
        return None
    query = dead[0].query
    what = walk_in_words(dead[0].kind, query.format, query.first_day, query.last_day)
    return told_of_dead(what, dead[0].error, dead=len(dead))
