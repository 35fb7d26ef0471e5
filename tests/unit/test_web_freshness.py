"""The freshness bar: each state with its sentence, its button and its next look."""

from datetime import timedelta

import pytest

from ppcfetch.model.ad import TotalRange
from ppcfetch.model.fetch import Fetch, FetchKind, FetchState, Freshness
from ppcfetch.model.following import Company
from ppcfetch.model.page import Waiting
from tests.site import ADA, BOB, NOW, a_fetch
from web.freshness import Action, Bar, Reader, Situation, bar_for, next_look

DAY = timedelta(days=1)
VISITOR = Reader()
ASKER = Reader(ADA.id, company=Company(follows=True))
OTHER = Reader(BOB.id)
OPERATOR = Reader(9, may_force=True)
ACTIVE = FetchState.ACTIVE


def bar(
    latest: Fetch | None,
    reader: Reader = VISITOR,
    *,
    checked: timedelta | None = None,
    tried: timedelta | None = None,
    held: int = 231,
    waiting: Waiting | None = None,
) -> Bar:
    """Decide the bar; checked and tried are ages."""
    checked_at = NOW - checked if checked is not None else None
    attempted_at = NOW - tried if tried is not None else checked_at
    situation = Situation(
        held=held,
        freshness=Freshness(checked_at, attempted_at),
        latest=latest,
        waiting=waiting or Waiting(),
        now=NOW,
        window=DAY,
    )
    return bar_for(situation, reader)


def done(age: timedelta) -> Fetch:
    return a_fetch(asked_at=NOW - age - timedelta(seconds=48), finished_at=NOW - age)


def test_a_fresh_page_tells_its_age_and_when_it_may_be_checked_again() -> None:
    shown = bar(done(timedelta(hours=2)), ASKER, checked=timedelta(hours=2))

    assert shown.state == "fresh"
    assert shown.said == "Checked 2 hours ago, 231 ads held · next check from 1 Dec, 10:00 UTC"
    assert shown.action is Action.NOTHING
    assert shown.every is None


def test_an_operator_may_refresh_a_fresh_page() -> None:
    shown = bar(done(timedelta(hours=2)), OPERATOR, checked=timedelta(hours=2))

    assert (shown.action, shown.label, shown.asks) == (Action.REFRESH, "Refresh", False)


def test_a_visitor_of_a_stale_page_is_asked_to_sign_in() -> None:
    shown = bar(done(12 * DAY), checked=12 * DAY)

    assert shown.said == "Last checked 12 days ago, on 18 Nov 2026"
    assert (shown.action, shown.label) == (Action.SIGN_IN, "Sign in to refresh")
    assert not shown.asks


def test_a_stale_page_asks_by_itself_for_who_is_signed_in() -> None:
    shown = bar(done(12 * DAY), OTHER, checked=12 * DAY)

    assert (shown.action, shown.asks) == (Action.REFRESH, True)


def test_a_domain_that_nobody_looked_up_is_called_so_and_asks_by_itself() -> None:
    assert bar(None).said == "Never checked, nobody has looked this domain up yet"
    assert bar(None).label == "Sign in to check"
    assert bar(None, ASKER, held=0).asks


@pytest.mark.parametrize(
    ("state", "sentence", "label"),
    [
        (FetchState.FAILED, "The archive could not be read, reference 41", "Try again"),
        (FetchState.PARTIAL, "Kept 231 ads, the rest could not be read", "Try the rest"),
        (
            FetchState.CANCELLED,
            "Stopped on request, 231 ads read until then were kept",
            "Try again",
        ),
    ],
)
def test_after_a_fetch_that_did_not_read_all_a_button_asks_but_never_the_page(
    state: FetchState, sentence: str, label: str
) -> None:
    shown = bar(a_fetch(state), ASKER, tried=timedelta(hours=1))

    assert shown.said == sentence
    assert (shown.action, shown.label) == (Action.REFRESH, label)
    assert not shown.asks


def test_a_failed_fetch_tells_what_is_shown_instead() -> None:
    shown = bar(a_fetch(FetchState.FAILED), ASKER, checked=12 * DAY, tried=timedelta(hours=1))

    assert shown.said.endswith("reference 41 · showing 18 Nov 2026")


def test_a_failure_longer_ago_than_the_window_lets_the_page_ask_again() -> None:
    assert bar(a_fetch(FetchState.FAILED), ASKER, tried=2 * DAY).asks


def test_a_domain_without_ads_says_that_the_archive_lists_none() -> None:
    shown = bar(done(timedelta(minutes=5)), ASKER, checked=timedelta(minutes=5), held=0)

    assert shown.headline == "The archive lists no ads for this domain"
    assert "asked 5 minutes ago" in shown.said


def test_a_fetch_that_has_just_ended_tells_what_it_found() -> None:
    shown = bar(done(timedelta(seconds=5)), checked=timedelta(seconds=5))

    assert (shown.state, shown.said) == ("done", "Done in 48 s, 14 new, 3 changed, 5 not seen")
    assert shown.every is None


def test_a_queued_fetch_tells_its_place_and_when_it_starts() -> None:
    fetch = a_fetch(ACTIVE, started_at=None, pages=0, found=0, asked_at=NOW - timedelta(seconds=3))
    waiting = Waiting(ahead=2, workers=1, typical=timedelta(seconds=6))

    shown = bar(fetch, ASKER, waiting=waiting)

    assert shown.said == "3rd in line, starts in about 10–25 s"
    assert (shown.action, shown.label, shown.every) == (Action.CANCEL, "Cancel", 1)


def test_a_queued_fetch_says_when_no_worker_is_there() -> None:
    fetch = a_fetch(ACTIVE, started_at=None, pages=0, found=0)
    waiting = Waiting(ahead=0, workers=0, typical=timedelta(seconds=6))

    assert "no worker is running right now" in bar(fetch, waiting=waiting).said


def test_a_fetch_in_a_workers_hand_is_no_longer_in_line() -> None:
    fetch = a_fetch(ACTIVE, started_at=None, pages=0, found=0)

    assert bar(fetch).said == "Asking the archive, the first page is on its way"


def test_a_fetch_that_lost_its_worker_is_in_line_again_and_keeps_what_it_has() -> None:
    waiting = Waiting(ahead=0, workers=2, typical=timedelta(seconds=6))

    shown = bar(a_fetch(ACTIVE), ASKER, waiting=waiting)

    assert shown.said == "1st in line, 231 ads so far · starts any moment"
    assert shown.label == "Stop and keep"


def test_a_running_fetch_tells_pages_ads_and_how_long_it_still_takes() -> None:
    fetch = a_fetch(
        ACTIVE,
        asked_at=NOW - timedelta(seconds=24),
        started_at=NOW - timedelta(seconds=22),
        pages=11,
        found=1_100,
        total=TotalRange(2_000, 3_000),
    )

    shown = bar(fetch, ASKER)

    assert shown.said == "Page 12 of 20 to 30, 1,100 ads so far, 14 new · done in about 15–40 s"
    assert shown.progress == (11, 20)
    assert (shown.action, shown.label, shown.every) == (Action.CANCEL, "Stop and keep", 2)


@pytest.mark.parametrize(
    ("pages", "total", "words", "progress"),
    [
        (19, TotalRange(2_000, 3_000), "Page 20 of 20 to 30", (19, 20)),
        (20, TotalRange(2_000, 3_000), "Page 21 of up to 30", (20, 21)),
        (13, TotalRange(20_000, 30_000), "Page 14 of 200 to 300", (13, 200)),
        (0, TotalRange(42, 42), "Asking the archive", None),
        (1, TotalRange(142, 142), "Page 2 of about 2", (1, 2)),
        (1, None, "Page 2", None),
    ],
)
def test_how_many_pages_there_are_is_told_as_far_as_the_archive_tells(
    pages: int, total: TotalRange | None, words: str, progress: tuple[int, int] | None
) -> None:
    shown = bar(a_fetch(ACTIVE, pages=pages, total=total))

    assert (shown.headline, shown.progress) == (words, progress)


def test_a_fetch_longer_than_the_archive_said_never_shows_more_pages_than_all() -> None:
    fetch = a_fetch(ACTIVE, pages=31, found=3_100, total=TotalRange(2_000, 3_000))

    shown = bar(fetch)

    assert shown.said == "Page 32, 3,100 ads so far, 14 new · done any moment"
    assert shown.progress == (31, 32)


@pytest.mark.parametrize(
    ("ads", "told"),
    [
        (20_000, "done in about 3–7 min"),
        (200_000, "done in about 63–97 min"),
        (2_000_000, "done in about 11–17 h"),
    ],
)
def test_a_long_fetch_is_told_in_the_unit_that_a_person_would_choose(ads: int, told: str) -> None:
    begun = NOW - timedelta(seconds=2 * 100)
    fetch = a_fetch(ACTIVE, started_at=begun, pages=100, total=TotalRange(ads, ads * 3 // 2))

    assert bar(fetch).said.endswith(told)


def test_a_refresh_promises_nothing_by_a_total_of_which_it_reads_a_part() -> None:
    fetch = a_fetch(
        ACTIVE, kind=FetchKind.REFRESH, until=NOW - DAY, pages=2, total=TotalRange(2_000, 3_000)
    )

    shown = bar(fetch)

    assert (shown.said, shown.progress) == ("Page 3, 231 ads so far, 14 new", None)


@pytest.mark.parametrize(
    ("reader", "action"),
    [
        (VISITOR, Action.NOTHING),
        (OTHER, Action.JOIN),
        (ASKER, Action.CANCEL),
        (OPERATOR, Action.CANCEL),
    ],
)
def test_a_running_fetch_can_be_stopped_by_who_asked_and_by_operators(
    reader: Reader, action: Action
) -> None:
    assert bar(a_fetch(ACTIVE), reader).action is action


def test_a_resting_fetch_says_when_it_goes_on_and_why_it_rests() -> None:
    waiting = Waiting(resumes_at=NOW + timedelta(minutes=4), error="asked to call less often")

    shown = bar(a_fetch(ACTIVE), waiting=waiting)

    assert shown.said == (
        "The archive makes us wait, trying again at 12:04:00 UTC · asked to call less often"
        " · results so far are below"
    )
    assert shown.every == 5


@pytest.mark.parametrize(("seconds", "every"), [(0, 1), (9, 1), (10, 2), (59, 2), (60, 5)])
def test_a_fetch_is_looked_at_less_often_the_longer_it_runs(seconds: int, every: int) -> None:
    assert next_look(timedelta(seconds=seconds)) == every
