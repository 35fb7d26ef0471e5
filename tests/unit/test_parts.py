"""Parts of a walk: the choices, and what must be seen before they are made."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, Query, TotalRange
from ppcfetch.model.job import Checkpoint, JobKind
from ppcfetch.model.parts import (
    FIRST_DAY,
    Days,
    agree,
    by_format,
    dated,
    ends_alike,
    halves,
    holds_the_top,
    is_fair,
    is_in_order,
    keeps_within,
    may_be_split,
    share_of,
)
from tests.builders import BLUEBIRD, NOON, a_job, a_page, an_ad

WHOLE = Query(BLUEBIRD)
DAY = timedelta(days=1)
LARGE = TotalRange(20_000, 30_000)


def shown(number: int, day: date | None) -> Ad:
    """An ad last shown at noon of a day, or never told when."""
    at = None if day is None else datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    return an_ad(number, last_shown=at)


def page_of(*days: date | None, first: int = 0, more: bool = True) -> ArchivePage:
    """A page of ads last shown on these days, with numbers from `first` on."""
    ads = [shown(first + n, day) for n, day in enumerate(days)]
    return a_page(*ads, next_cursor="more" if more else None)


@pytest.mark.parametrize(
    ("changes", "total", "cursor", "may"),
    [
        ({}, LARGE, "c", True),
        ({}, TotalRange(19_999, 30_000), "c", False),
        ({}, None, "c", False),
        ({}, LARGE, None, False),
        ({"pages": 1}, LARGE, "c", False),
        ({"kind": JobKind.TOP_UP}, LARGE, "c", False),
        ({"checkpoint": Checkpoint(until=NOON)}, LARGE, "c", False),
    ],
)
def test_only_the_first_page_of_a_huge_walk_to_the_end_may_be_split(
    changes: dict[str, object], total: TotalRange | None, cursor: str | None, *, may: bool
) -> None:
    page = a_page(an_ad(), next_cursor=cursor, total=total)

    assert may_be_split(a_job(**changes), page, at=20_000) is may


def test_formats_part_a_query_unless_one_of_them_is_unknown() -> None:
    known, odd = an_ad(1), an_ad(2, format=AdFormat.UNKNOWN)

    parts = by_format(WHOLE, a_page(known))

    assert [part.format for part in parts] == [AdFormat.TEXT, AdFormat.IMAGE, AdFormat.VIDEO]
    assert by_format(WHOLE, a_page(known, odd)) == ()
    assert by_format(parts[0], a_page(known)) == ()


@pytest.mark.parametrize(
    ("parts", "do"),
    [
        ([(10_000, 20_000), (9_000, 10_000)], True),
        ([(30_000, 40_000), (10_000, 20_000)], False),
        ([(9_000, 10_000), (8_000, 9_000)], False),
        ([(10_000, 20_000), None], False),
    ],
)
def test_totals_agree_when_the_parts_can_be_the_whole(
    parts: list[tuple[int, int] | None], *, do: bool
) -> None:
    assert agree(LARGE, [None if part is None else TotalRange(*part) for part in parts]) is do


def test_nothing_agrees_with_an_unknown_total() -> None:
    assert not agree(None, [LARGE])
    assert share_of(LARGE, None) == share_of(None, LARGE) == share_of(LARGE, TotalRange(0, 0)) == 0


def test_a_window_reaches_from_before_all_ads_to_the_day_after_the_newest() -> None:
    today = NOON.date()

    window = dated(WHOLE, page_of(None, today, today - DAY))

    assert window == replace(WHOLE, first_day=FIRST_DAY, last_day=today + DAY)
    assert dated(window, page_of(today + 5 * DAY)) == window
    assert dated(WHOLE, page_of(None)) is None


def test_halves_meet_and_do_not_overlap() -> None:
    window = replace(WHOLE, first_day=FIRST_DAY, last_day=NOON.date())

    older, newer = halves(window, date(2026, 6, 30))

    assert (older.first_day, older.last_day) == (FIRST_DAY, date(2026, 6, 30))
    assert (newer.first_day, newer.last_day) == (date(2026, 7, 1), NOON.date())


def test_a_single_day_has_no_halves_and_a_search_for_a_day_ends() -> None:
    today = NOON.date()
    two = Days.to_halve(replace(WHOLE, first_day=today - DAY, last_day=today))

    assert not Days.to_halve(replace(WHOLE, first_day=today, last_day=today)).are_left
    assert two.are_left
    assert two.middle == today - DAY
    assert not two.later().are_left
    assert not two.earlier().are_left
    assert Days.to_halve(WHOLE).last < FIRST_DAY


@pytest.mark.parametrize(
    ("lower", "fair"), [(20_000, False), (40_000, True), (50_000, True), (80_000, False)]
)
def test_a_cut_is_fair_when_both_halves_are_worth_a_walk(lower: int, *, fair: bool) -> None:
    share = share_of(TotalRange(lower, lower), TotalRange(100_000, 100_000))

    assert is_fair(share) is fair


def test_a_window_with_ads_shown_after_its_end_does_not_part_ads() -> None:
    window = replace(WHOLE, first_day=date(2026, 6, 1), last_day=date(2026, 6, 30))

    assert keeps_within(window, page_of(date(2026, 7, 1), None, date(2026, 5, 31)))
    assert not keeps_within(window, page_of(date(2026, 7, 2), date(2026, 6, 3)))
    assert not keeps_within(window, page_of(date(2026, 6, 3), date(2026, 5, 30)))
    assert keeps_within(WHOLE, page_of(date(2001, 1, 1)))


@pytest.mark.parametrize(
    ("days", "ordered"), [((3, 2, 2), True), ((2, 3), False), ((None,), False), ((), False)]
)
def test_only_a_page_with_dates_newest_first_is_in_order(
    days: tuple[int | None, ...], *, ordered: bool
) -> None:
    page = page_of(*(None if day is None else date(2026, 6, day) for day in days))

    assert is_in_order(page) is ordered


HALF = replace(WHOLE, first_day=date(2026, 6, 1), last_day=date(2026, 6, 30))
TOP = (date(2026, 6, 20), None, date(2026, 6, 10), date(2026, 6, 5))


@pytest.mark.parametrize(
    ("newer", "holds"),
    [
        pytest.param(page_of(*TOP), True, id="the same page"),
        pytest.param(page_of(*TOP[:3]), True, id="a shorter page, as far as it goes"),
        pytest.param(page_of(*TOP[:3], more=False), False, id="the end, but not every ad"),
        pytest.param(page_of(TOP[0], TOP[3], first=0), False, id="ads between left out"),
        pytest.param(page_of(*TOP, first=1), False, id="the newest left out"),
        pytest.param(page_of(None), False, id="no dates"),
        pytest.param(
            a_page(shown(0, TOP[0]), shown(2, TOP[2]), shown(3, TOP[3])), False, id="undated out"
        ),
        pytest.param(
            a_page(shown(9, date(2026, 6, 30)), *page_of(*TOP).ads, next_cursor="c"),
            True,
            id="one shown again meanwhile",
        ),
    ],
)
def test_the_newer_half_has_every_ad_of_the_top(newer: ArchivePage, *, holds: bool) -> None:
    assert holds_the_top(HALF, newer, page_of(*TOP)) is holds


def test_what_is_older_than_the_newer_half_is_not_asked_of_it() -> None:
    whole = page_of(date(2026, 6, 20), date(2026, 6, 1), date(2026, 5, 20))

    assert holds_the_top(HALF, page_of(date(2026, 6, 20), more=False), whole)
    assert holds_the_top(HALF, page_of(*TOP, more=False), page_of(*TOP))
    assert not holds_the_top(WHOLE, whole, whole)


def test_a_query_ends_alike_when_nothing_follows_what_its_window_has() -> None:
    last = page_of(NOON.date(), NOON.date(), more=False)

    assert ends_alike(last, last)
    assert ends_alike(last, page_of(NOON.date(), more=False))
    assert not ends_alike(last, page_of(NOON.date(), NOON.date()))
    assert not ends_alike(last, page_of(NOON.date(), first=7, more=False))
