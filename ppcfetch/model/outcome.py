"""How a run of a job ended, and what that means for the row and for the delivery.

In one line: if the row says what happens next, settle the delivery; if it does not, leave it.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from ppcfetch.errors import (
    ArchiveBlocked,
    ArchiveThrottled,
    LeaseLost,
    Permanent,
    PpcFetchError,
    Retryable,
    Unavailable,
)
from ppcfetch.model.job import Job
from ppcfetch.model.lease import Refusal
from ppcfetch.model.unexpected import marked

FIRST_DELAY = timedelta(seconds=2)
LONGEST_DELAY = timedelta(minutes=10)
LONGEST_TEXT = 1000

_NEVER_STORED = dict.fromkeys([0, *range(0xD800, 0xE000)], "\N{REPLACEMENT CHARACTER}")
"""NUL and lone surrogates: no database keeps them, and what cannot be told cannot be settled."""


@dataclass(frozen=True, slots=True)
class Done:
    """The last page is stored and the row says so."""


@dataclass(frozen=True, slots=True)
class RetryLater:
    """A reported error: queued again, due after the delay, one attempt more, start given back."""

    delay: timedelta
    error: str


@dataclass(frozen=True, slots=True)
class Rest:
    """The archive or our own pace asks to wait: queued, due after the delay, nothing counted."""

    delay: timedelta
    error: str


@dataclass(frozen=True, slots=True)
class HandBack:
    """Asked to stop: queued, due now, start given back; the delivery goes round again."""


@dataclass(frozen=True, slots=True)
class Spill:
    """Its time is used up: the rest waits for its turn in the bulk pool."""


@dataclass(frozen=True, slots=True)
class Dead:
    """Nothing more will happen by itself; the reason is kept."""

    error: str


@dataclass(frozen=True, slots=True)
class Leave:
    """The row and the delivery are not ours to touch."""

    why: str


Outcome = Done | RetryLater | Rest | HandBack | Spill | Dead | Leave


class Answer(StrEnum):
    """What to do with a delivery whose job was not leased."""

    LEAVE = "leave"
    SETTLE = "settle"
    MOVE = "move"
    DEAD_LETTER = "dead letter"


ANSWERS: dict[Refusal, Answer] = {
    Refusal.HELD: Answer.LEAVE,
    Refusal.OTHER_POOL: Answer.MOVE,
    Refusal.SETTLED: Answer.SETTLE,
    Refusal.NOT_DUE: Answer.SETTLE,
    Refusal.EXHAUSTED: Answer.DEAD_LETTER,
    Refusal.UNKNOWN: Answer.DEAD_LETTER,
}


def decide(error: Exception, job: Job, *, max_attempts: int, jitter: float) -> Outcome:
    """Turn an error of a run into its outcome.

    Shape: any exception that is not ours counts as retryable.
    Units: jitter is a random number from 0 to 1, drawn by the caller.
    """
    match error:
        case LeaseLost():
            return Leave(str(error))
        case Unavailable():
            return Leave(str(error))
        case ArchiveThrottled() | ArchiveBlocked():
            return Rest(_wait(job, jitter, error.retry_after), _text(error))
        case Permanent():
            return Dead(_text(error))
    if job.attempts + 1 >= max_attempts:
        return Dead(f"gave up after {job.attempts + 1} attempts: {_text(error)}")
    asked = error.retry_after if isinstance(error, Retryable) else None
    return RetryLater(_wait(job, jitter, asked), _text(error))


def backoff(attempts: int, jitter: float) -> timedelta:
    """Give the delay before the next try: doubling, capped, full jitter.

    Units: attempts counts reported errors since the last progress.
    """
    ceiling = min(FIRST_DELAY * (1 << min(attempts, 16)), LONGEST_DELAY)
    return ceiling * jitter


def _wait(job: Job, jitter: float, asked: timedelta | None) -> timedelta:
    return max(backoff(job.attempts, jitter), asked or timedelta(0))


def _text(error: Exception) -> str:
    text = str(error) if isinstance(error, PpcFetchError) else marked(error)
    return text.translate(_NEVER_STORED)[:LONGEST_TEXT]
