"""A job: the unit that is leased, one walk along one query of the archive."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from ppcfetch.model.ad import Query


class Pool(StrEnum):
    """Who waits: INTERACTIVE for a person, BULK for schedules, imports and spills."""

    INTERACTIVE = "interactive"
    BULK = "bulk"


class JobKind(StrEnum):
    """Why it walks: for what the fetch asks, or again for what moved to the top meanwhile."""

    WALK = "walk"
    TOP_UP = "top up"


class JobState(StrEnum):
    """Where a job is; `MOVES` is the one table of what may follow."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


MOVES: dict[JobState, frozenset[JobState]] = {
    JobState.QUEUED: frozenset({JobState.RUNNING, JobState.CANCELLED, JobState.DEAD}),
    JobState.RUNNING: frozenset(
        {JobState.QUEUED, JobState.DONE, JobState.DEAD, JobState.CANCELLED, JobState.RUNNING}
    ),
    JobState.DONE: frozenset(),
    JobState.DEAD: frozenset({JobState.QUEUED}),
    JobState.CANCELLED: frozenset(),
}
"""Allowed moves. RUNNING to RUNNING is a new lease of an abandoned job; DEAD to QUEUED a retry."""

ACTIVE = frozenset({JobState.QUEUED, JobState.RUNNING})


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is safely stored of a walk.

    Shape: cursor is None before the first page; mark is an earlier cursor kept to notice a
    walk that goes in circles; oldest is the last shown date of the last stored ad, newest that of
    the first; the walk is over at ads last shown before until, None is never; ended and in_order
    tell of the last page: whether it was the last one, and whether it kept the archive's order.
    """

    cursor: str | None = None
    mark: str | None = None
    oldest: datetime | None = None
    newest: datetime | None = None
    until: datetime | None = None
    ended: bool = False
    in_order: bool = True

    def after(
        self,
        *,
        pages: int,
        next_cursor: str | None,
        oldest: datetime | None,
        newest: datetime | None = None,
        until: datetime | None = None,
        ended: bool = False,
        in_order: bool = True,
    ) -> "Checkpoint":
        """Give the checkpoint behind a stored page; pages counts the stored ones with it.

        The mark moves to the newest cursor whenever pages is a power of two (Brent): any circle
        of cursors meets its mark within two rounds, however long the walk, in constant space.
        """
        moves = pages & (pages - 1) == 0
        return Checkpoint(
            cursor=next_cursor,
            mark=next_cursor if moves else self.mark,
            oldest=oldest or self.oldest,
            newest=self.newest or newest,
            until=until,
            ended=ended,
            in_order=in_order,
        )

    def comes_round(self, next_cursor: str | None) -> bool:
        """Tell whether the next cursor was handed out before, so that the walk cannot end."""
        return next_cursor is not None and next_cursor in {self.cursor, self.mark}


@dataclass(frozen=True, slots=True)
class Job:
    """A job's row, as far as deciding needs it.

    Shape: error is the last one reported, None when there was none.
    Units: pages counts committed archive pages; starts and attempts count since the last one.
    """

    id: int
    fetch_id: int
    kind: JobKind
    pool: Pool
    query: Query
    state: JobState
    fence: int
    starts: int
    attempts: int
    pages: int
    checkpoint: Checkpoint
    error: str | None = None

    def advanced(self, checkpoint: Checkpoint) -> "Job":
        """Give the job as it is behind one more committed page."""
        return replace(self, checkpoint=checkpoint, pages=self.pages + 1, starts=0, attempts=0)
