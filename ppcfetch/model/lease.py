"""Leases: who may work on a job, told by a token in the stream and a fence in the row."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from ppcfetch.model.job import Job, Pool


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that may hold leases: its consumer name and its incarnation.

    Shape: incarnation comes from a database sequence, so a later process of the same name
    always bears a higher one.
    """

    consumer: str
    incarnation: int


@dataclass(frozen=True, slots=True)
class Token:
    """What proves that a delivery is still ours: message, consumer and delivery counter.

    The name alone would pass for a sleeper and its successor alike.
    """

    message_id: str
    consumer: str
    deliveries: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message in a consumer's hand.

    Shape: job_id is None when the message could not be read; version is that of the payload,
    None when unreadable; raw keeps the payload as it came.
    """

    pool: Pool
    token: Token
    job_id: int | None
    version: int | None = 1
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a job, as far as the database knows.

    Shape: fence rises with each lease of the job; a write under an older one changes nothing.
    """

    job: Job
    fence: int
    holder: Holder


class Refusal(StrEnum):
    """Why a job was not leased; each names what to do with the delivery (`model/outcome.py`)."""

    HELD = "held elsewhere"
    OTHER_POOL = "row names another pool"
    SETTLED = "settled"
    NOT_DUE = "not due"
    EXHAUSTED = "starts used up"
    UNKNOWN = "no such job"


@dataclass(frozen=True, slots=True)
class Refused:
    """The answer of `take` when there is no lease.

    Shape: pool is the row's pool, None when there is no row.
    """

    job_id: int
    why: Refusal
    pool: Pool | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """The numbers of the lease protocol, checked together by the settings.

    Units: lease is how long silence is believed to be life; renew how often we beat; stall how
    long a handler may go without progress; max_starts and max_attempts count since progress.
    """

    lease: timedelta
    renew: timedelta
    stall: timedelta
    max_starts: int
    max_attempts: int

    @property
    def local_deadline(self) -> timedelta:
        """How long after the sending of the last accepted beat work may go on without answer."""
        return self.lease * 2 / 3


@dataclass(frozen=True, slots=True)
class Budget:
    """How long an interactive worker may be held by one job before the rest spills to bulk."""

    pages: int
    time: timedelta

    def is_used_up(self, *, pages: int, spent: timedelta) -> bool:
        """Tell whether a lease with so many pages in so much time must give way."""
        return pages >= self.pages or spent >= self.time
