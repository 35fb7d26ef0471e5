"""Ads shown again while a walk runs jump to the front; order, cursors and truth stay consistent."""

from itertools import pairwise

import pytest

from fixtures.emulator.archive import Archive, Wanted
from fixtures.emulator.requests import search_request
from tests.archive_reading import TODAY, Json, archive, ask, fact, query, rows_of, truth, walk

_DOMAIN = "ads-2350.example"
_CHURNING = Wanted("shown", churn=10)


def _place(ad: Json) -> tuple[str, str]:
    return ad["advertiser"], ad["creative"]


def test_an_ad_shown_again_is_at_the_front_with_a_newer_time_and_gone_from_its_old_place() -> None:
    source = archive()
    before = truth(source, _DOMAIN)

    ask(source, query(_DOMAIN), Wanted("shown", churn=3))

    after = truth(source, _DOMAIN)
    bumped = [_place(ad) for ad in after[:3]]
    assert [_place(ad) for ad in after[3:]] == [
        _place(ad) for ad in before if _place(ad) not in bumped
    ]
    assert set(bumped) <= {_place(ad) for ad in before[100:]}
    old = {_place(ad): ad for ad in before}
    for ad in after[:3]:
        was = old[_place(ad)]
        assert ad | {"last_shown": was["last_shown"]} == was
        assert was["last_shown"] is None or ad["last_shown"] > before[0]["last_shown"]


def test_a_walk_under_churn_misses_ads_and_a_second_look_at_the_front_finds_them() -> None:
    source = archive()

    walked = [row for page in walk(source, query(_DOMAIN), _CHURNING) for row in page["1"]]
    start = walked[0]["2"]
    topped_up = []
    for row in rows_of(source, query(_DOMAIN)):
        if row["2"] == start:
            break
        topped_up.append(row)

    known = {row["2"]: fact(row) for row in walked} | {row["2"]: fact(row) for row in topped_up}
    assert len({row["2"] for row in walked}) < 2350
    assert known == {ad["creative"]: ad for ad in truth(source, _DOMAIN)}


def test_after_churn_a_quiet_walk_of_any_page_size_equals_the_truth() -> None:
    source = archive()
    for _ in walk(source, query(_DOMAIN), _CHURNING):
        pass

    for size in (7, 40, 100):
        rows = rows_of(source, query(_DOMAIN, size=size))
        assert [fact(row) for row in rows] == truth(source, _DOMAIN)


def test_a_cursor_among_ads_shown_again_goes_on_behind_them() -> None:
    source = archive()
    ask(source, query(_DOMAIN), Wanted("shown", churn=20))

    first = ask(source, query(_DOMAIN, size=15))
    second = ask(source, query(_DOMAIN, size=15, cursor=first["2"]))

    rows = first["1"] + second["1"]
    assert [fact(row) for row in rows] == truth(source, _DOMAIN)[:30]


@pytest.mark.parametrize("window", ["shown", "last_shown"])
def test_filters_and_totals_see_ads_shown_again_at_their_new_day(window: str) -> None:
    source = archive()
    today = int(f"{TODAY:%Y%m%d}")
    ask(source, query(_DOMAIN), Wanted(window, churn=30))

    rows = rows_of(source, query(_DOMAIN, f6=today, f7=today), Wanted(window))
    page = ask(source, query(_DOMAIN, f6=today, f7=today), Wanted(window))

    assert [fact(row) for row in rows] == truth(source, _DOMAIN)[:30]
    assert (page["4"], page["5"]) == ("30", "30")


@pytest.mark.parametrize("window", ["shown", "last_shown"])
def test_a_past_window_has_ads_shown_again_only_if_it_asks_for_all_days(window: str) -> None:
    source = archive()
    ask(source, query(_DOMAIN), Wanted(window, churn=200))

    rows = rows_of(source, query(_DOMAIN, f6=20261020, f7=20261026), Wanted(window))

    end = "first_shown" if window == "shown" else "last_shown"
    expected = [
        ad
        for ad in truth(source, _DOMAIN)
        if ad["first_shown"] and ad["last_shown"]
        if ad["last_shown"] >= "2026-10-20" and ad[end] < "2026-10-27"
    ]
    dated = [fact(row) for row in rows if "6" in row and "7" in row]
    assert dated == expected
    again = {ad["creative"] for ad in truth(source, _DOMAIN)[:200]}
    assert bool(again & {row["2"] for row in rows}) == (window == "shown")


def test_an_ad_shown_again_inside_a_date_window_is_counted_once() -> None:
    source = archive()
    ask(source, query("ads-90.example", size=40), Wanted("last_shown", churn=9))

    page = ask(source, query("ads-90.example", f6=20200101, f7=20261231), Wanted("last_shown"))

    assert len(page["1"]) == 90
    assert (page["4"], page["5"]) == ("90", "90")


def test_nothing_is_shown_again_behind_the_last_page() -> None:
    source = archive()

    ask(source, query("ads-100.example"), _CHURNING)

    assert truth(source, "ads-100.example") == truth(archive(), "ads-100.example")


def test_ads_shown_again_by_hand_can_be_shown_again_for_ever() -> None:
    source = archive()
    portfolio = source.catalogue.portfolio("ads-30.example")
    assert portfolio is not None
    churn = source.book.of(portfolio)
    seen = [truth(source, "ads-30.example")]

    for _ in range(20):
        churn.bump(portfolio, 0, 7)
        seen.append(truth(source, "ads-30.example"))
        rows = rows_of(source, query("ads-30.example", size=4))
        assert [fact(row) for row in rows] == seen[-1]

    assert len({str(lines) for lines in seen}) == 21
    for before, after in pairwise(seen[1:]):
        assert not {ad["creative"] for ad in after[:7]} & {ad["creative"] for ad in before[:7]}
        assert len({ad["creative"] for ad in after}) == 30


def test_churn_is_the_same_for_the_same_seed_and_pages() -> None:
    def churned() -> list[Json]:
        source: Archive = archive()
        for _ in walk(source, query(_DOMAIN), _CHURNING):
            pass
        return truth(source, _DOMAIN)

    assert churned() == churned()


def test_a_page_after_much_churn_still_computes_no_more_ads_than_it_gives() -> None:
    source = archive()
    cursor = ask(source, query("ads-2000000.example"), Wanted("shown", churn=500))["2"]

    found = source.search(
        search_request(query("ads-2000000.example", cursor=cursor)), Wanted("shown")
    )

    assert found.examined == 101
