"""Where a job is: what the rows, the stream and the pace tell of it at one moment."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from ppcfetch.model.job import Pool
from ppcfetch.model.job_view import JobView
from ppcfetch.model.operation import Pause


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where a job's live message is.

    Shape: consumer is None while the message waits; idle is then zero and deliveries 0.
    """

    pool: Pool
    message_id: str
    consumer: str | None
    idle: timedelta
    deliveries: int


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What the database tells of a job, read at one moment, which is `now` by its clock.

    Shape: ahead counts the due jobs of the pool that were due before it, and of a job that is not
    admitted those that wait for their turn in the same line; pause is its pool's.
    """

    job: JobView
    now: datetime
    ahead: int = 0
    pause: Pause | None = None
    admitted: bool = True


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """What Redis tells of a job.

    Shape: message is None when nothing rings for it; workers counts the processes of its pool;
    bearer is the incarnation that bears its holder's name now, None when nobody does.
    Units: rest is how long the archive may not be asked, zero while it may.
    """

    message: Whereabouts | None = None
    workers: int = 1
    bearer: int | None = None
    rest: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How soon things happen by themselves. Units: sweep is the time between two sweeps."""

    lease: timedelta
    renew: timedelta
    stall: timedelta
    sweep: timedelta
    max_attempts: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a job is where it is.

    Shape: since is when it came there, as far as the row tells; holder, beat_age and progress_age
    are of the present lease, None without one; why is empty when nothing is in the way.
    """

    job: JobView
    place: str
    since: datetime | None
    why: tuple[str, ...]
    what_next: str
    holder: str | None = None
    beat_age: timedelta | None = None
    progress_age: timedelta | None = None
