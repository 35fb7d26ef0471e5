"""The emulator's answers have the exact text form of the archive's."""

import json
import re

import pytest

from tests.archive_reading import (
    Json,
    archive,
    ask,
    by_advertiser,
    decoded,
    query,
    rows_of,
    text_of,
)

_IMAGE = re.compile(
    r'<img src="https://tpc\.googlesyndication\.com/archive/simgad/\d{1,20}"'
    r' height="\d+" width="\d+">'
)
_SCRIPT = re.compile(
    r"https://displayads-formats\.googleusercontent\.com/ads/preview/content\.js"
    r"\?client=ads-integrity-transparency&obfuscatedCustomerId=\d{10}&creativeId=\d{12}"
    r"&uiFeatures=12,54(&adGroupId=\d{12})?(&versionId=\d)?&sig=ACiVB_x[\w-]{26}"
    r"&htmlParentId=fletch-render-(\d+)&responseCallback=fletchCallback\3"
)


@pytest.fixture(name="rows", scope="module")
def _rows() -> list[Json]:
    return rows_of(archive(), query("ads-3000.example"))


def test_the_text_is_compact_ascii_with_html_characters_escaped() -> None:
    for domain in ("kumo-no-mori.example", "odd-lots.example", "ads-500.example"):
        text = text_of(archive(), query(domain))

        assert text.isascii()
        assert not set("<>&='") & set(text)
        assert '\\u003cimg src\\u003d\\"https://tpc' in text
        escaped = json.dumps(decoded(text), separators=(",", ":"))
        for plain, code in (("=", "3d"), ("&", "26"), ("<", "3c"), (">", "3e"), ("'", "27")):
            escaped = escaped.replace(plain, f"\\u00{code}")
        assert text == escaped


def test_rows_have_the_types_of_the_archive(rows: list[Json]) -> None:
    for row in rows:
        assert re.fullmatch(r"AR\d{20}", row["1"])
        assert re.fullmatch(r"CR\d{20}", row["2"])
        assert row["4"] in (1, 2, 3)
        assert row["14"] == "ads-3000.example"
        assert isinstance(row["13"], int)
        for instant in (row.get("6"), row.get("7")):
            if instant is not None:
                assert isinstance(instant["1"], str)
                assert instant.get("2", 1000) % 1000 == 0
                assert 0 < instant.get("2", 1000) < 1_000_000_000


def test_an_ad_is_first_shown_before_it_is_last_shown_and_on_no_more_days(rows: list[Json]) -> None:
    for row in rows:
        if "6" in row and "7" in row:
            first, last = int(row["6"]["1"]), int(row["7"]["1"])
            assert first <= last
            assert 1 <= row["13"] <= -(-(last - first) // 86400) + 1


def test_content_has_each_of_the_three_shapes_or_is_missing(rows: list[Json]) -> None:
    shapes = {tuple(sorted(set(row.get("3", {})) - {"5"})) for row in rows}

    assert shapes == {("1",), ("2",), ("3",), ()}
    for row in rows:
        content = row.get("3", {})
        if "3" in content:
            assert _IMAGE.fullmatch(content["3"]["2"])
            assert content.get("5", True) is True
        elif content:
            assert _SCRIPT.fullmatch(next(iter(content.values()))["4"])
            assert "5" not in content


def test_text_ads_are_mostly_screenshots_and_old_shapes_are_videos(rows: list[Json]) -> None:
    text = [row for row in rows if row["4"] == 1 and "3" in row]
    old = [row for row in rows if "2" in row.get("3", {})]

    assert 0.75 < sum("3" in row["3"] for row in text) / len(text) < 0.97
    assert {row["4"] for row in old} == {3}


def test_some_rows_lack_a_name_or_a_date_and_every_advertiser_is_named_once(
    rows: list[Json],
) -> None:
    for key in ("6", "7", "12"):
        missing = sum(key not in row for row in rows)
        assert 0 < missing < len(rows) / 50
    assert {row["1"] for row in rows} == {row["1"] for row in rows if "12" in row}


def test_the_first_ad_of_every_advertiser_bears_its_name() -> None:
    for seed in range(100):
        portfolio = archive(seed).catalogue.portfolio("ads-40000.example")
        assert portfolio is not None
        first = {trait.slot: trait for trait in reversed(portfolio.pattern)}
        assert len(first) == 40
        assert all(trait.named for trait in first.values())


def test_the_domain_is_told_only_in_domain_searches(rows: list[Json]) -> None:
    page = ask(archive(), by_advertiser(rows[0]["1"]))

    assert page["1"]
    assert all("14" not in row for row in page["1"])


@pytest.mark.parametrize(
    ("ads", "lower", "upper"),
    [(1, "1", "1"), (99, "99", "99"), (100, "100", "200"), (2350, "2000", "3000"),
     (2000000, "2000000", "3000000"), (8999, "8000", "9000"), (999, "900", "1000")],
)  # fmt: skip
def test_totals_are_exact_below_a_hundred_and_one_digit_from_there(
    ads: int, lower: str, upper: str
) -> None:
    page = ask(archive(), query(f"ads-{ads}.example"))

    assert (page["4"], page["5"]) == (lower, upper)


@pytest.mark.parametrize(
    "fields",
    [
        query("nobody-knows-this.example"),
        query("quiet-orchard.example"),
        query("ads-0.example"),
        query("ads-2000001.example"),
        query("ads-007.example"),
        query("ads-50.example", size=101),
        query("ads-50.example", size=0),
        query("ads-50.example", f8=[9999]),
        {key: value for key, value in query("ads-50.example").items() if key != "7"},
        by_advertiser("AR00000000000000000001"),
        query(""),
    ],
)
def test_the_empty_object_answers_what_finds_nothing_or_is_no_right_question(fields: Json) -> None:
    assert text_of(archive(), fields) == "{}"


def test_hostile_domains_have_odd_names_dates_and_formats() -> None:
    rows = rows_of(archive(), query("odd-lots.example"))

    assert any("<script>" in row.get("12", "") for row in rows)
    assert any("\u202e" in row.get("12", "") for row in rows)
    assert {"0", "253402300800"} <= {row["6"]["1"] for row in rows if "6" in row}
    assert {row.get("4") for row in rows} > {1, 2, 3, None}
