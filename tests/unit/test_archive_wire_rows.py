"""What the archive's rows become, and what is counted on the way."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ppcfetch.adapters.archive.wire import read_page
from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, Preview, PreviewKind, Query, TotalRange
from ppcfetch.model.domain import DomainName
from tests.archive_answers import ADVERTISER, NOW, PICTURE, SCRIPT, answer, creative, row, seconds
from tests.archive_answers import written as wire

ASKED = Query(DomainName("bluebird.example"))


def read(*rows: Any, **changes: Any) -> ArchivePage:
    return read_page(wire(answer(*rows, **changes)), query=ASKED, now=NOW)


def test_a_whole_row_becomes_an_ad_with_every_field_and_no_warning() -> None:
    page = read(row(7), k2="next", k4="2000", k5="3000")

    assert page == ArchivePage(
        ads=(
            Ad(
                advertiser_id=ADVERTISER,
                creative_id=creative(7),
                advertiser_name="Bluebird Shoes Ltd",
                format=AdFormat.TEXT,
                first_shown=datetime(2026, 6, 2, 9, 8, 36, 63081, tzinfo=UTC),
                last_shown=datetime(2026, 9, 21, 14, 13, 13, 839899, tzinfo=UTC),
                days_shown=31,
                preview=Preview(PreviewKind.IMAGE, PICTURE, width=348, height=209),
            ),
        ),
        next_cursor="next",
        total=TotalRange(2000, 3000),
    )


@pytest.mark.parametrize(
    ("content", "preview"),
    [
        ({"1": {"4": SCRIPT}}, Preview(PreviewKind.SCRIPT, SCRIPT)),
        ({"2": {"4": SCRIPT}}, Preview(PreviewKind.SCRIPT, SCRIPT)),
        (
            {"3": {"2": f"<IMG width=348px alt='' src='{PICTURE}'>"}},
            Preview(PreviewKind.IMAGE, PICTURE, width=348),
        ),
    ],
)
def test_each_shape_of_content_becomes_a_preview(content: Any, preview: Preview) -> None:
    page = read(row(k3=content))

    assert page.ads[0].preview == preview
    assert page.warnings == ()


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        (None, "1 × row without content"),
        ({}, "1 × row without content"),
        ({"1": {}}, "1 × row without content"),
        ({"1": {"4": "javascript:alert(1)"}}, "1 × preview that is not a web link"),
        ({"1": {"4": "https://a@b.example/"}}, "1 × preview that is not a web link"),
        ({"1": {"4": "https://b.example/\n"}}, "1 × preview that is not a web link"),
        ({"1": {"4": 'https://b.example/">'}}, "1 × preview that is not a web link"),
        ({"1": {"4": "https://b.example/" + "x" * 9000}}, "1 × preview that is not a web link"),
        ({"3": {"2": "<p>text</p>"}}, "1 × inline content without a picture"),
        ({"3": {"2": "<img alt=x>"}}, "1 × inline content without a picture"),
        ({"3": {"2": "<img src='data:image/png;base64,x'>"}}, "1 × preview that is not a web link"),
    ],
)
def test_content_that_cannot_be_followed_is_counted_and_left_out(
    content: Any, warning: str
) -> None:
    page = read(row(k3=content))

    assert page.ads[0].preview == Preview(PreviewKind.NONE)
    assert page.warnings == (warning,)


@pytest.mark.parametrize(("code", "kept"), [(1, "text"), (2, "image"), (3, "video")])
def test_the_format_comes_from_its_code_and_not_from_the_content(code: int, kept: str) -> None:
    page = read(row(k4=code))

    assert page.ads[0].format == AdFormat(kept)


IN_TWO_DAYS = seconds(NOW + timedelta(days=2))


@pytest.mark.parametrize(
    ("change", "left", "warning"),
    [
        ({"k12": None}, {"advertiser_name": None}, "1 × row without a name"),
        ({"k12": ""}, {"advertiser_name": None}, "1 × row without a name"),
        ({"k4": None}, {"format": AdFormat.UNKNOWN}, "1 × row without a known format"),
        ({"k4": 14}, {"format": AdFormat.UNKNOWN}, "1 × row without a known format"),
        ({"k6": None}, {"first_shown": None}, "1 × row without first shown"),
        ({"k7": None}, {"last_shown": None}, "1 × row without last shown"),
        ({"k7": {"2": 5}}, {"last_shown": None}, "1 × row without last shown"),
        ({"k6": {"1": "0"}}, {"first_shown": None}, "1 × first shown that cannot be true"),
        ({"k6": {"1": "-1"}}, {"first_shown": None}, "1 × first shown that cannot be true"),
        ({"k6": {"1": "soon"}}, {"first_shown": None}, "1 × first shown that cannot be true"),
        ({"k6": {"1": "1780391316", "2": 10**9}}, {"first_shown": None},
         "1 × first shown that cannot be true"),
        ({"k6": {"1": "\u0661780391316"}}, {"first_shown": None},
         "1 × first shown that cannot be true"),
        ({"k7": {"1": IN_TWO_DAYS}}, {"last_shown": None}, "1 × last shown that cannot be true"),
        ({"k7": {"1": "9" * 19}}, {"last_shown": None}, "1 × last shown that cannot be true"),
        ({"k7": {"1": "9" * 5000}}, {"last_shown": None}, "1 × last shown that cannot be true"),
        ({"k13": None}, {"days_shown": None}, "1 × row without days shown"),
        ({"k13": -1}, {"days_shown": None}, "1 × number of days that cannot be true"),
        ({"k13": 10**30}, {"days_shown": None}, "1 × number of days that cannot be true"),
        ({"k12": "Blue\x00bird"}, {"advertiser_name": "Bluebird"},
         "1 × name with characters that cannot be stored"),
        ({"k12": "Blue\ud800bird"}, {"advertiser_name": "Bluebird"},
         "1 × name with characters that cannot be stored"),
        ({"k12": "\x00"}, {"advertiser_name": None},
         "1 × name with characters that cannot be stored"),
        ({"k12": "x" * 501}, {"advertiser_name": "x" * 500}, "1 × name cut to 500 characters"),
        ({"k14": "other.example"}, {}, "1 × row of another domain"),
        ({"k14": "notbluebird.example"}, {}, "1 × row of another domain"),
    ],
)  # fmt: skip
def test_what_is_missing_or_cannot_be_true_is_left_out_and_counted(
    change: dict[str, Any], left: dict[str, Any], warning: str
) -> None:
    page = read(row(**change))

    assert {name: getattr(page.ads[0], name) for name in left} == left
    assert page.warnings == (warning,)


@pytest.mark.parametrize(
    "change",
    [
        {"k12": "  Straße \u202eover\u202c \x07 \U0001f600"},  # cleaning is for whoever shows it
        {"k14": None},
        {"k14": "shop.bluebird.example"},
        {"k7": {"1": seconds(NOW + timedelta(hours=23))}},
        {"k16": True, "k99": {"a": [1]}},
    ],
)
def test_what_may_be_odd_but_true_is_kept_as_it_is(change: dict[str, Any]) -> None:
    page = read(row(**change))

    assert page.warnings == ()
    assert page.ads[0].advertiser_name == change.get("k12", "Bluebird Shoes Ltd")
    assert page.ads[0].last_shown


def test_first_and_last_shown_in_the_wrong_order_are_exchanged() -> None:
    page = read(row(k6={"1": "1790000000"}, k7={"1": "1780000000"}))

    ad = page.ads[0]
    assert ad.first_shown == datetime.fromtimestamp(1780000000, UTC)
    assert ad.last_shown == datetime.fromtimestamp(1790000000, UTC)
    assert page.warnings == ("1 × row first shown after it was last shown",)


def test_rows_that_are_none_are_left_out_and_the_others_kept() -> None:
    page = read(
        5, row(1), None, [], row(2, k1="AR123"), row(3, k2=None),
        row(4, k2="CR" + "\u0661" * 20), row(5),
    )  # fmt: skip

    assert [ad.creative_id for ad in page.ads] == [creative(1), creative(5)]
    assert page.warnings == ("3 × row that is no object", "3 × row without a well-formed id")


def test_an_ad_shown_twice_on_a_page_is_kept_once_with_its_dates_widened() -> None:
    first = row(1, k6={"1": "1780000000"}, k7={"1": "1790000001"}, k13=4)
    again = row(1, k6={"1": "1770000000"}, k7={"1": "1790000000"}, k13=9)

    page = read(first, again, row(2))

    assert [ad.creative_id for ad in page.ads] == [creative(1), creative(2)]
    assert page.ads[0].first_shown == datetime.fromtimestamp(1770000000, UTC)
    assert page.ads[0].last_shown == datetime.fromtimestamp(1790000001, UTC)
    assert page.ads[0].days_shown == 9
    assert page.warnings == ("1 × ad that the page shows twice",)


def test_the_same_creative_of_two_advertisers_is_two_ads() -> None:
    page = read(row(1), row(1, k1="AR99999999999999999999"))

    assert len(page.ads) == 2


def test_each_row_newer_than_the_one_before_is_counted() -> None:
    page = read(
        row(1, k7={"1": "1790000000"}),
        row(2, k7={"1": "1790000001"}),
        row(3, k7={"1": "1790000001"}),
        row(4, k7={"1": "1780500000"}),
        row(5, k7={"1": "1780500001"}),
    )

    assert page.warnings == ("2 × row out of order",)


@pytest.mark.parametrize(
    ("totals", "total", "warnings"),
    [
        ({"k4": "0", "k5": "0"}, TotalRange(0, 0), ()),
        ({"k4": "99", "k5": "99"}, TotalRange(99, 99), ()),
        ({"k4": None, "k5": None}, None, ("1 × page without a total",)),
        ({"k4": "3", "k5": "2"}, None, ("1 × total that cannot be true",)),
        ({"k4": "-1", "k5": "2"}, None, ("1 × total that cannot be true",)),
        ({"k4": "1"}, TotalRange(1, 1), ()),
        ({"k4": None}, None, ("1 × total that cannot be true",)),
        ({"k4": "1", "k5": "9" * 19}, None, ("1 × total that cannot be true",)),
    ],
)
def test_the_total_is_a_range_or_nothing(
    totals: dict[str, Any], total: TotalRange | None, warnings: tuple[str, ...]
) -> None:
    page = read(row(), **totals)

    assert (page.total, page.warnings) == (total, warnings)
