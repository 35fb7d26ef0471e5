"""Numbers, times, strangers' names and pictures, as pages show them."""

import gzip
from datetime import date, datetime, timedelta, timezone

import pytest

from tests.site import NOW, FakeSite, a_fetch, a_page
from web.charts import activity_map, bar_lengths, frame
from web.text import ago, day, lasting, moment, name_or, plain, plural, time_tag


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  Bluebird Outdoor ", "Bluebird Outdoor"),
        ("a\u202eb\u2066c\u200bd\ufeffe\u0000f\u0085g\U000e0041h", "abcdefgh"),
        ("e\u0301tude", "étude"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("line\nbreak", "linebreak"),
        ("x" * 300, "x" * 199 + "…"),
        (None, ""),
    ],
)
def test_a_strangers_text_loses_what_nobody_can_see(text: str | None, shown: str) -> None:
    assert plain(text) == shown


def test_a_name_is_isolated_and_an_empty_one_gives_way() -> None:
    assert name_or("<b>", "AR1") == "<bdi>&lt;b&gt;</bdi>"
    assert name_or(" \u202e ", "AR1") == "<bdi>AR1</bdi>"


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=12, hours=5), "12 days ago"),
    ],
)
def test_an_age_is_told_in_one_unit(age: timedelta, words: str) -> None:
    assert ago(NOW - age, NOW) == words


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(seconds=48.4), "48 s"),
        (timedelta(seconds=119), "119 s"),
        (timedelta(minutes=2), "2 minutes"),
        (timedelta(hours=24), "24 hours"),
        (timedelta(days=14), "14 days"),
        (timedelta(seconds=0.4), "under a second"),
        (timedelta(seconds=-1), "under a second"),
    ],
)
def test_a_length_is_told_in_the_largest_unit_that_fits_twice(
    length: timedelta, words: str
) -> None:
    assert lasting(length) == words


def test_moments_are_told_in_utc_with_the_whole_value_beside() -> None:
    elsewhere = datetime(2026, 11, 30, 1, 30, tzinfo=timezone(timedelta(hours=2)))

    assert day(elsewhere) == "29 Nov 2026"
    assert time_tag(elsewhere) == (
        '<time datetime="2026-11-29T23:30:00Z" title="2026-11-29 23:30 UTC">29 Nov 2026</time>'
    )
    assert "29 Nov 2026, 23:30:00 UTC" in moment(elsewhere)
    assert time_tag(None) == "unknown"


def test_counts_take_their_word_with_them() -> None:
    assert (plural(1, "ad"), plural(2_350, "ad")) == ("1 ad", "2,350 ads")


def test_the_map_ends_today_and_begins_on_a_monday_a_year_ago() -> None:
    today = date(2026, 11, 28)

    drawn = activity_map({today: 9, today - timedelta(days=1): 1, date(2020, 1, 1): 99}, today)

    assert drawn.cells[0].day == date(2025, 12, 1)
    assert (drawn.cells[-1].day, drawn.cells[-1].level) == (today, 4)
    assert drawn.cells[-2].level == 1
    assert len(drawn.weeks) == 52
    assert (drawn.weeks[-1], drawn.busiest) == ((date(2026, 11, 23), 9), 9)
    assert [month.name for month in drawn.months][:2] == ["Dec", "Jan"]
    assert max(cell.x for cell in drawn.cells) < drawn.width


def test_the_map_tells_days_apart_that_are_all_busy() -> None:
    today = date(2026, 11, 28)
    counts = {today - timedelta(days=back): 400 + back for back in range(4)}

    drawn = activity_map(counts, today)

    assert [cell.level for cell in drawn.cells[-4:]] == [4, 3, 2, 1]
    assert (drawn.quietest, drawn.busiest) == (400, 403)


def test_each_level_of_the_map_is_an_equal_part_of_what_the_year_holds() -> None:
    today = date(2026, 11, 28)
    counts = {today - timedelta(days=back): 100 + back for back in range(200)}

    drawn = activity_map(counts, today)

    per_level = [sum(cell.level == level for cell in drawn.cells) for level in range(1, 5)]
    assert per_level == [50, 50, 50, 50]


def test_a_map_of_one_height_is_drawn_in_full() -> None:
    drawn = activity_map({date(2026, 11, 28): 1}, date(2026, 11, 28))

    assert drawn.cells[-1].level == 4


def test_a_map_without_ads_is_empty_and_not_an_error() -> None:
    drawn = activity_map({}, date(2026, 11, 30))

    assert {cell.level for cell in drawn.cells} == {0}


def test_bars_are_as_long_as_their_counts_and_never_vanish() -> None:
    assert bar_lengths([1_000, 500, 1, 0]) == (100, 50, 1, 0)
    assert bar_lengths([]) == ()


@pytest.mark.parametrize(
    ("width", "height", "kind"),
    [(728, 90, "image"), (160, 600, "image"), (1, 90_000, "image"), (None, None, "video")],
)
def test_a_sketch_stays_inside_its_card(width: int | None, height: int | None, kind: str) -> None:
    box = frame(width, height, kind)

    assert 0 < box.width <= 238
    assert box.y >= 0
    assert box.y + box.height <= 72


def test_public_pages_travel_compressed_and_private_ones_do_not() -> None:
    site = FakeSite()
    site.catalogue.hold(a_page(a_fetch()))
    address, can = "/domains/bluebird-outdoor.example", {"Accept-Encoding": "gzip"}

    public = site.visitor().get(address, headers=can)
    plainly = site.visitor().get(address)
    private = site.signed_in().get(address, headers=can)

    assert gzip.decompress(public.data) == plainly.data
    assert {"Accept-Encoding", "Cookie"} <= set(public.vary)
    assert "Content-Encoding" not in plainly.headers
    assert "Content-Encoding" not in private.headers
