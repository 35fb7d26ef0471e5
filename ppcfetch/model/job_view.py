"""A job as operators see it, and which of them they want to see."""

from dataclasses import dataclass, field
from datetime import date, datetime

from ppcfetch.model.ad import AdFormat
from ppcfetch.model.domain import DomainName
from ppcfetch.model.job import JobKind, JobState, Pool
from ppcfetch.model.walk_words import walk_in_words


@dataclass(frozen=True, slots=True)
class JobView:
    """Everything that a job's row tells.

    Shape: taken_at, holder, incarnation and beat_at are of the last lease, None before the first;
    progressed_at is the last stored page; discarded_at is set when an operator put the dead job
    aside. parent_id is the job of which it walks a part, format, first_day and last_day which
    part; None means no such bound.
    """

    id: int
    fetch_id: int
    domain: str
    pool: Pool
    state: JobState
    created_at: datetime
    due_at: datetime
    starts: int = 0
    attempts: int = 0
    pages: int = 0
    fence: int = 0
    holder: str | None = None
    incarnation: int | None = None
    taken_at: datetime | None = None
    beat_at: datetime | None = None
    progressed_at: datetime | None = None
    finished_at: datetime | None = None
    error: str | None = None
    discarded_at: datetime | None = None
    kind: JobKind = JobKind.WALK
    format: AdFormat | None = None
    first_day: date | None = None
    last_day: date | None = None
    parent_id: int | None = None

    @property
    def part(self) -> str:
        """Which ads it reads, in words."""
        return walk_in_words(self.kind, self.format, self.first_day, self.last_day)


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs to list, newest first.

    Shape: no states mean all; after is the id of the last job that was seen; discarded ones are
    left out unless asked for.
    """

    states: frozenset[JobState] = field(default_factory=frozenset)
    pool: Pool | None = None
    domain: DomainName | None = None
    after: int | None = None
    with_discarded: bool = True
    count: int = 50
