"""Walking the emulator to the end of a search gives exactly what it says is true."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from fixtures.emulator.archive import Archive, Wanted
from fixtures.emulator.cursor import decode, encode
from fixtures.emulator.requests import search_request
from tests.archive_reading import (
    TODAY,
    Json,
    archive,
    ask,
    by_advertiser,
    fact,
    query,
    rows_of,
    truth,
    walk,
)

_DAY = timedelta(days=1)


@pytest.mark.parametrize("size", [40, 100])
@pytest.mark.parametrize("ads", [0, 1, 2, 3, 39, 40, 41, 80, 99, 100, 101, 200, 2350])
def test_a_walk_to_the_end_gives_every_ad_once_in_the_order_of_the_truth(
    ads: int, size: int
) -> None:
    source = archive()

    pages = list(walk(source, query(f"ads-{ads}.example", size=size)))

    rows = [row for page in pages for row in page.get("1", [])]
    assert [fact(row) for row in rows] == truth(source, f"ads-{ads}.example")
    assert len({row["2"] for row in rows}) == ads
    assert len(pages) == max(1, -(-ads // size))
    assert all(len(page["1"]) == size for page in pages[:-1])


def test_every_named_company_can_be_walked_to_its_end() -> None:
    source = archive()
    for domain in source.catalogue.names():
        portfolio = source.catalogue.portfolio(domain)
        assert portfolio is not None
        if portfolio.company.ads <= 12000:
            rows = rows_of(source, query(domain))
            assert [fact(row) for row in rows] == truth(source, domain)
            assert len(rows) == portfolio.company.ads


def test_the_same_seed_and_day_give_the_same_ads_and_another_seed_gives_others() -> None:
    assert truth(archive(7), "ads-300.example") == truth(archive(7), "ads-300.example")
    ours, theirs = truth(archive(7), "ads-300.example"), truth(archive(8), "ads-300.example")
    assert not {ad["creative"] for ad in ours} & {ad["creative"] for ad in theirs}


def test_equal_times_are_ordered_by_the_tie_in_the_cursor() -> None:
    source = archive()
    pages = list(walk(source, query("ads-2000.example", size=1)))

    places = [decode(page["2"]) for page in pages[:-1]]

    assert all(place is not None for place in places)
    known = [place for place in places if place is not None]
    assert known == sorted(known)
    assert len({place.older for place in known}) < len(known)


def test_a_cursor_is_made_of_the_last_rows_time() -> None:
    page = ask(archive(), query("ads-500.example", size=7))

    last, place = page["1"][-1]["7"], decode(page["2"])
    assert place is not None
    assert -place.older == int(last["1"]) * 1_000_000 + last["2"] // 1000


@pytest.mark.parametrize("depth", [0, 1_000_000, 1_999_000])
def test_a_page_deep_in_two_million_ads_computes_no_more_ads_than_the_first(depth: int) -> None:
    source = archive()
    portfolio = source.catalogue.portfolio("ads-2000000.example")
    assert portfolio is not None
    cursor = encode(portfolio.place(depth))

    for narrowed in ({}, {"f4": 3}, {"f8": [2392]}, {"f6": 20250101, "f7": 20261130}):
        fields = query("ads-2000000.example", cursor=cursor, **narrowed)
        found = source.search(search_request(fields), Wanted("shown"))
        assert found.examined <= 101


def _matches(source: Archive, ad: Json, days: tuple[date, date], window: str) -> bool:
    portfolio = source.catalogue.portfolio("ads-2350.example")
    assert portfolio is not None
    index = portfolio.index_of(ad["creative"])
    assert index is not None
    last_us = portfolio.last_us(index)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    last = (epoch + timedelta(microseconds=last_us)).date()
    first = (epoch + timedelta(microseconds=portfolio.first_us(index, last_us))).date()
    if window == "last_shown":
        return days[0] <= last <= days[1]
    return first <= days[1] and last >= days[0]


@pytest.mark.parametrize("window", ["shown", "last_shown"])
@pytest.mark.parametrize(("back", "length"), [(1, 1), (3, 2), (40, 7), (150, 30), (700, 300)])
def test_a_date_window_gives_exactly_the_ads_of_its_meaning(
    window: str, back: int, length: int
) -> None:
    source = archive()
    days = (TODAY - back * _DAY, TODAY - (back - length + 1) * _DAY)
    fields = query(
        "ads-2350.example", size=40, f6=int(f"{days[0]:%Y%m%d}"), f7=int(f"{days[1]:%Y%m%d}")
    )

    rows = rows_of(source, fields, Wanted(window))

    expected = [
        ad["creative"]
        for ad in truth(source, "ads-2350.example")
        if _matches(source, ad, days, window)
    ]
    assert [row["2"] for row in rows] == expected
    _total_fits(ask(source, fields, Wanted(window)), len(expected))


@pytest.mark.parametrize("window", ["shown", "last_shown"])
def test_a_limited_reach_hides_old_ads_from_date_windows_alone(window: str) -> None:
    source, near = archive(), Wanted(window, reach_days=100)
    everything = query("ads-2350.example", f6=20000101, f7=20261231)

    rows = rows_of(source, everything, near)
    undated = rows_of(source, query("ads-2350.example"), near)

    days = (TODAY - 100 * _DAY, TODAY)
    expected = [
        ad["creative"]
        for ad in truth(source, "ads-2350.example")
        if _matches(source, ad, days, "last_shown")
    ]
    assert [row["2"] for row in rows] == expected
    assert 0 < len(rows) < len(undated) == 2350


def _total_fits(page: dict[str, Any], number: int) -> None:
    assert int(page.get("4", 0)) <= number <= int(page.get("5", 0))


@pytest.mark.parametrize(("code", "name"), [(1, "text"), (2, "image"), (3, "video")])
def test_a_format_filter_gives_exactly_the_ads_of_the_format(code: int, name: str) -> None:
    source = archive()

    rows = rows_of(source, query("ads-2350.example", f4=code))

    expected = [ad for ad in truth(source, "ads-2350.example") if ad["format"] == name]
    assert expected
    assert [fact(row) for row in rows] == expected
    _total_fits(ask(source, query("ads-2350.example", f4=code)), len(expected))


def test_region_filters_cover_all_ads_and_differ() -> None:
    source = archive()
    everywhere = {row["2"] for row in rows_of(source, query("ads-2350.example"))}
    regions = (2840, 2826, 2276, 2250, 2392, 2356, 2076, 2724)

    by_region = [
        {row["2"] for row in rows_of(source, query("ads-2350.example", f8=[region]))}
        for region in regions
    ]

    assert set.union(*by_region) == everywhere
    assert not by_region[0] & by_region[4]
    assert rows_of(source, query("ads-2350.example", f8=[2004])) == []


def test_an_advertiser_search_gives_its_ads_over_all_its_domains_newest_first() -> None:
    source = archive()
    agency = next(
        ad["advertiser"]
        for ad in truth(source, "bluebird-outdoor.example")
        if ad["name"] == "Nine Rivers Media GmbH"
    )
    domains = ("bluebird-outdoor.example", "harbor-and-pine.example", "meridian-travel.example")

    rows = rows_of(source, by_advertiser(agency))

    expected = [
        ad for domain in domains for ad in truth(source, domain) if ad["advertiser"] == agency
    ]
    assert sorted(row["2"] for row in rows) == sorted(ad["creative"] for ad in expected)
    known = [fact(row)["last_shown"] for row in rows if "7" in row]
    assert known == sorted(known, reverse=True)


def test_advertiser_searches_of_a_domain_together_give_the_domain() -> None:
    source = archive()
    everything = truth(source, "ads-2350.example")
    advertisers = sorted({ad["advertiser"] for ad in everything})

    rows = rows_of(source, by_advertiser(*advertisers, size=33))

    assert len(advertisers) == 10
    assert [fact(row) for row in rows] == everything
