"""What each end of a run means: one table, and the laws of waiting."""

from datetime import timedelta

import pytest

from ppcfetch.errors import (
    ArchiveBlocked,
    ArchiveChanged,
    ArchiveRejected,
    ArchiveThrottled,
    ArchiveUnavailable,
    DatabaseUnavailable,
    LeaseLost,
)
from ppcfetch.model.lease import Refusal
from ppcfetch.model.outcome import (
    ANSWERS,
    LONGEST_DELAY,
    Dead,
    Leave,
    Outcome,
    Rest,
    RetryLater,
    backoff,
    decide,
)
from tests.builders import a_job

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("error", "attempts", "outcome"),
    [
        # an outage of the archive kills no job, however often it happens
        (ArchiveThrottled("slow down", retry_after=HOUR), 99, Rest(HOUR, "slow down")),
        (ArchiveBlocked("captcha", retry_after=HOUR), 99, Rest(HOUR, "captcha")),
        # reported errors are tried again, until they are used up
        (ArchiveUnavailable("503"), 0, RetryLater(timedelta(seconds=1), "503")),
        (ArchiveUnavailable("503"), 6, RetryLater(timedelta(seconds=64), "503")),
        (ArchiveUnavailable("503"), 7, Dead("gave up after 8 attempts: 503")),
        # the archive's own delay is respected
        (ArchiveUnavailable("503", retry_after=HOUR), 0, RetryLater(HOUR, "503")),
        # what cannot be helped by trying again is dead at once
        (ArchiveRejected("400"), 0, Dead("400")),
        (ArchiveChanged("odd", field="1[0].2"), 0, Dead("odd")),
        # without the lease or the database the row is not ours to touch
        (LeaseLost("gone"), 0, Leave("gone")),
        (DatabaseUnavailable("away"), 0, Leave("away")),
        # an unknown exception counts as retryable
        (KeyError("x"), 0, RetryLater(timedelta(seconds=1), "unexpected KeyError: 'x'")),
        (KeyError("x"), 7, Dead("gave up after 8 attempts: unexpected KeyError: 'x'")),
    ],
)
def test_the_error_decides_the_outcome(error: Exception, attempts: int, outcome: Outcome) -> None:
    """Each class of error has one meaning."""
    job = a_job(attempts=attempts)

    decided = decide(error, job, max_attempts=8, jitter=0.5)

    assert decided == outcome


@pytest.mark.parametrize(
    "error", [ValueError("odd\0 \udc80" + "x" * 9999), ArchiveChanged("odd\0 \udc80", field="1")]
)
@pytest.mark.parametrize("attempts", [0, 99])
def test_what_any_error_says_can_be_stored(error: Exception, attempts: int) -> None:
    outcome = decide(error, a_job(attempts=attempts), max_attempts=8, jitter=0.5)

    assert isinstance(outcome, RetryLater | Dead)
    assert "\0" not in outcome.error
    assert "odd\ufffd \ufffd" in outcome.error
    assert len(outcome.error.encode()) < 2000


@pytest.mark.parametrize("attempts", range(40))
def test_waiting_grows_but_never_beyond_its_limit(attempts: int) -> None:
    """Back-off doubles from two seconds and is capped, whatever the dice say."""
    longest = backoff(attempts, 1.0)

    assert longest == min(timedelta(seconds=2) * 2**attempts, LONGEST_DELAY)
    assert backoff(attempts, 0.0) == timedelta(0)


def test_every_refusal_has_an_answer() -> None:
    """A new kind of refusal must say what happens to its delivery."""
    assert set(ANSWERS) == set(Refusal)
