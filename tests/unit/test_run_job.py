"""A walk through the archive: what happens to it on the way."""

from datetime import timedelta

import pytest

from ppcfetch.errors import ArchiveBlocked, ArchiveRejected, ArchiveUnavailable
from ppcfetch.model.fetch import FetchState
from ppcfetch.model.job import JobState
from ppcfetch.model.outcome import Dead, Done, HandBack, Leave, Rest, RetryLater
from tests.builders import a_page, an_ad
from tests.stage import Stage


def test_an_error_of_the_archive_is_tried_again_from_the_checkpoint() -> None:
    """What was stored stays; the next run asks for the page that failed."""
    stage = Stage(pages=2)
    stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    run = worker.begin(held)
    next(run)
    stage.archive.answers = [ArchiveUnavailable("503")]

    outcome = worker.finish(held)
    stage.pass_time(timedelta(minutes=1))
    stage.sweep(worker)
    again = worker.work()

    assert outcome == RetryLater(timedelta(seconds=1), "503")
    assert again == [Done(), Done()]
    assert stage.archive.asked == [None, "1", "1", None]


def test_attempts_are_used_up_only_without_progress() -> None:
    """Eight reported errors in a row make a job dead, and its fetch failed."""
    stage = Stage(pages=1)
    asked = stage.request()
    worker = stage.worker()
    stage.archive.answers = [ArchiveUnavailable("503")] * 8

    outcomes = []
    while stage.archive.answers:
        outcomes += worker.work()
        stage.pass_time(timedelta(minutes=20))
        stage.sweep(worker)

    assert [type(outcome) for outcome in outcomes] == [RetryLater] * 7 + [Dead]
    assert stage.database.get(asked.fetch.id).state is FetchState.FAILED
    assert len(stage.redis.state.dead) == 1
    assert stage.messages() == 0


def test_a_blocked_archive_rests_the_job_and_counts_nothing() -> None:
    """An outage of the archive kills no job, however long it lasts."""
    stage = Stage(pages=1)
    stage.request()
    worker = stage.worker()
    stage.pace.rest = timedelta(minutes=3)
    stage.archive.answers = [ArchiveBlocked("captcha")] * 20

    outcomes = []
    while stage.archive.answers:
        outcomes += worker.work()
        stage.pass_time(timedelta(minutes=4))
        stage.sweep(worker)

    job = stage.database.jobs[1].job
    assert outcomes == [Rest(timedelta(minutes=3), "captcha")] * 20
    assert (job.state, job.attempts, job.starts) == (JobState.QUEUED, 0, 0)
    assert worker.work() == [Done()]


def test_a_failing_archive_behind_an_open_breaker_rests_the_job_too() -> None:
    """Once the breaker is open, errors stop using up attempts."""
    stage = Stage(pages=1)
    stage.request()
    stage.pace.rest = timedelta(seconds=30)
    stage.archive.answers = [ArchiveUnavailable("503")]

    outcomes = stage.worker().work()

    assert outcomes == [Rest(timedelta(seconds=30), "503")]


def test_a_short_wait_for_the_pace_is_waited_for() -> None:
    """The lease is kept while waiting."""
    stage = Stage(pages=1)
    stage.request()
    stage.pace.waits = [timedelta(seconds=0.2)] * 3
    began = stage.clock.now

    outcomes = stage.worker().work()

    assert outcomes == [Done()]
    assert stage.clock.now - began >= 0.6
    assert stage.pace.told == ["well"]


def test_a_wait_for_the_pace_beyond_a_lease_rests_the_job() -> None:
    """Nobody sits on a lease that he cannot use."""
    stage = Stage(pages=1)
    stage.request()
    stage.pace.waits = [timedelta(seconds=61)]

    outcomes = stage.worker().work()

    assert [type(outcome) for outcome in outcomes] == [Rest]
    assert stage.archive.asked == []


def test_a_worker_that_is_stopped_while_it_waits_hands_back_at_once() -> None:
    """No page is in hand, so none has to be finished."""
    stage = Stage(pages=1)
    stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    stage.pace.waits = [timedelta(seconds=5)]
    worker.stopping.set()

    outcome = worker.finish(held)

    assert outcome == HandBack()
    assert stage.archive.asked == []


def test_an_answer_that_kills_the_job_is_still_an_answer_for_the_pace() -> None:
    """The breaker's one trial call must not be left without a report."""
    stage = Stage(pages=1)
    stage.request()
    stage.archive.answers = [ArchiveRejected("400")]

    outcomes = stage.worker().work()

    assert outcomes == [Dead("400")]
    assert stage.pace.told == ["well"]


def test_nothing_behind_a_cursor_is_believed_when_it_is_said_three_times() -> None:
    """All that was left may have moved to the top; the archive may as well be mistaken."""
    stage = Stage(pages=3)
    asked = stage.request()
    worker = stage.worker()
    first = a_page(an_ad(1), next_cursor="1")
    stage.archive.answers = [first, a_page(), ArchiveUnavailable("503"), a_page(), a_page()]

    outcomes = []
    while stage.database.get(asked.fetch.id).state is FetchState.ACTIVE:
        outcomes += worker.work()
        stage.pass_time(timedelta(minutes=20))
        stage.sweep(worker)

    assert [type(outcome) for outcome in outcomes] == [RetryLater] * 3 + [Done] * 2
    assert stage.database.get(asked.fetch.id).state is FetchState.DONE
    assert stage.archive.asked == [None, "1", "1", "1", "1", None]


def test_a_walk_in_a_circle_ends_dead() -> None:
    """An archive whose cursors repeat would be walked for ever."""
    stage = Stage()
    stage.request()
    stage.archive.answers = [
        a_page(an_ad(n), next_cursor=cursor) for n, cursor in enumerate(["a", "b", "c", "b", "c"])
    ]

    (outcome,) = stage.worker().work()

    assert isinstance(outcome, Dead)
    assert "circle" in outcome.error
    assert len(stage.database.ads) == 3


def test_a_page_out_of_order_is_stored_and_counted_as_a_warning() -> None:
    """Ads may jump ahead of the cursor while we walk; that is worth knowing, and no error."""
    stage = Stage()
    asked = stage.request()
    stage.archive.answers = [a_page(an_ad(5), next_cursor="1"), a_page(an_ad(1))]

    outcomes = stage.worker().work()

    assert outcomes == [Done()]
    assert stage.database.get(asked.fetch.id).warnings == 1


def test_a_write_without_an_answer_is_repeated_and_stores_nothing_twice() -> None:
    """A COMMIT whose reply was lost has happened."""
    stage = Stage(pages=2)
    asked = stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    stage.database.lose_next_reply = True

    outcome = worker.finish(held)

    fetch = stage.database.get(asked.fetch.id)
    assert outcome == Done()
    assert (fetch.pages, fetch.found, fetch.new) == (2, 4, 4)


def test_a_page_is_kept_while_the_database_is_away() -> None:
    """The write is repeated until the local deadline; nothing is asked for again."""
    stage = Stage(pages=1)
    stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    stage.database.down = True
    back_at = stage.clock.now + 30
    stage.clock.on_sleep = lambda: setattr(stage.database, "down", stage.clock.now < back_at)

    outcome = worker.finish(held)

    assert outcome == Done()
    assert stage.archive.asked == [None]


def test_without_any_accepted_beat_the_handler_stops_at_the_local_deadline() -> None:
    """Two thirds of a lease after the last one, whatever is still going on."""
    stage = Stage(pages=1)
    stage.request()
    worker = stage.worker()
    (held,) = worker.lease()
    began = stage.clock.now
    stage.database.down = True

    outcome = worker.consumer.run(held)

    assert isinstance(outcome, Leave)
    assert stage.clock.now - began == pytest.approx(40, abs=2)


def test_an_unknown_exception_is_tried_again_and_told_whole() -> None:
    """A fault of ours in a handler ends one run, not the worker."""
    stage = Stage(pages=1)
    stage.request()
    worker = stage.worker()
    stage.archive.answers = [ZeroDivisionError("a fault of ours")]

    (outcome,) = worker.work()

    assert isinstance(outcome, RetryLater)
    assert outcome.error == "unexpected ZeroDivisionError: a fault of ours"
