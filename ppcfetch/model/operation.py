"""What operators do to the system: deeds that are kept, and pools that are paused."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ppcfetch.model.job import Pool


class Action(StrEnum):
    """The kinds of deeds."""

    RETRY = "retry"
    DISCARD = "discard"
    PAUSE = "pause"
    RESUME = "resume"
    REMOVE_CONSUMER = "remove consumer"


@dataclass(frozen=True, slots=True)
class Deed:
    """Who does what, and why.

    Shape: who is a user of the operating system or an e-mail address; reason None when not told.
    """

    who: str
    action: Action
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """A deed as it was kept: to what, and when."""

    at: datetime
    deed: Deed
    target: str


@dataclass(frozen=True, slots=True)
class Pause:
    """A pool that starts nothing until somebody resumes it."""

    pool: Pool
    since: datetime
    by: str
    reason: str | None = None

    @property
    def told(self) -> str:
        """Since when, by whom and why, for the end of a sentence."""
        why = f": {self.reason}" if self.reason else ""
        return f"since {self.since:%Y-%m-%d %H:%M:%S} UTC by {self.by}{why}"


def job_target(job_id: int) -> str:
    """Name a job as the target of a deed."""
    return f"job {job_id}"


def pool_target(pool: Pool) -> str:
    """Name a pool as the target of a deed."""
    return f"pool {pool}"


def consumer_target(name: str) -> str:
    """Name a consumer as the target of a deed."""
    return f"consumer {name}"
