"""Previews: pictures are real PNGs of the told size, scripts come in both styles of the archive."""

import re
import struct
import zlib
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from fixtures.emulator.behaviour import Behaviour, Director
from fixtures.emulator.calls import Calls
from fixtures.emulator.journal import Journal
from fixtures.emulator.pages import preview
from fixtures.emulator.replies import Reply
from tests.archive_reading import Json, archive, by_advertiser, decoded, query, rows_of


@pytest.fixture(name="calls", scope="module")
def _calls() -> Calls:
    return Calls(archive(), Director(lambda: 0.0), Journal())


@pytest.fixture(name="rows", scope="module")
def _rows(calls: Calls) -> list[Json]:
    return rows_of(calls.archive, query("ads-1500.example"))


def _get(calls: Calls, url: str) -> Reply:
    parts = urlsplit(url)
    reply = preview(calls, f"{parts.path}?{parts.query}" if parts.query else parts.path)
    assert reply is not None
    return reply


def _script_urls(rows: list[Json]) -> Iterator[str]:
    for row in rows:
        for kind in ("1", "2"):
            if kind in row.get("3", {}):
                yield row["3"][kind]["4"]


def test_a_picture_is_a_png_of_the_size_its_row_tells(calls: Calls, rows: list[Json]) -> None:
    images = [row["3"]["3"]["2"] for row in rows if "3" in row.get("3", {})]

    for image in images[:20]:
        match = re.search(r'src="(\S+)" height="(\d+)" width="(\d+)"', image)
        assert match is not None
        reply = _get(calls, match[1])
        assert (reply.status, reply.kind) == (200, "image/png")
        assert reply.body[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", reply.body[16:24])
        assert (height, width) == (int(match[2]), int(match[3]))
        at = reply.body.index(b"IDAT")
        size = struct.unpack(">I", reply.body[at - 4 : at])[0]
        assert len(zlib.decompress(reply.body[at + 4 : at + 4 + size])) == height * (width + 1)


@pytest.mark.parametrize("path", ["12", "abc", "99999999999999999999999", "18446744073709551615"])
def test_an_unknown_picture_is_missing(calls: Calls, path: str) -> None:
    assert _get(calls, f"/archive/simgad/{path}").status == 404


def test_scripts_come_in_every_style_and_some_have_expired(calls: Calls, rows: list[Json]) -> None:
    replies = [_get(calls, url) for url in _script_urls(rows)]

    texts = [reply.body.decode() for reply in replies if reply.status == 200]
    assert {reply.status for reply in replies} == {200, 404}
    assert any("adData: {\\x27headline\\x27: \\x27" in text for text in texts)
    assert any("data-asoch-targets\\x3d\\x22ad0,btnClk" in text for text in texts)
    assert any("https://i.ytimg.com/vi/" in text for text in texts)
    assert any("registerDeferredInsertPreviewImageContent(" in text for text in texts)
    for text in texts:
        calls_made = re.findall(r"previewservice\.(\w+)\('fletch-render-\d+', 'ad-\d+', '", text)
        assert len(calls_made) == 1
        assert "fletchCallback" in text


def test_an_html_call_has_thirteen_arguments_and_no_raw_markup(
    calls: Calls, rows: list[Json]
) -> None:
    found = 0
    for url in _script_urls(rows):
        text = _get(calls, url).body.decode()
        match = re.search(r"insertPreviewHtmlContent\((.*)\);\n", text)
        if match is not None:
            found += 1
            assert "<" not in match[1]
            assert len(re.sub(r"'[^']*'|\[\]", "x", match[1]).split(", ")) == 13
    assert found > 20


def test_a_changed_address_is_forbidden(calls: Calls, rows: list[Json]) -> None:
    url = next(_script_urls(rows))

    assert _get(calls, url.replace("sig=ACiVB_x", "sig=ACiVB_y")).status == 403
    assert _get(calls, url.replace("creativeId=4", "creativeId=5")).status == 403
    assert _get(calls, "/ads/preview/content.js").status == 403


def test_all_previews_can_be_made_to_expire(calls: Calls, rows: list[Json]) -> None:
    fresh = Calls(calls.archive, Director(lambda: 0.0), Journal())
    fresh.director.put(Behaviour(expired_previews=True))

    assert {_get(fresh, url).status for url in _script_urls(rows)} == {404}


def test_a_lookup_repeats_what_the_row_says_and_knows_regions_and_payer(
    calls: Calls, rows: list[Json]
) -> None:
    answers = [(row, calls.archive.lookup(row["1"], row["2"])) for row in rows]

    found = [(row, decoded(text)["1"]) for row, text in answers if text != "{}"]
    assert 0 < len(rows) - len(found) < len(rows) / 20
    for row, detail in found:
        assert (detail["1"], detail["2"], detail["8"]) == (row["1"], row["2"], row["4"])
        assert "7" not in row or detail["4"] == row["7"]
        assert detail["22"]["1"]
        assert all(isinstance(place["1"], int) for place in detail["17"])
        assert all(20200101 < place["5"] <= 20261130 for place in detail["17"])
        if "3" in row.get("3", {}):
            assert detail["5"][0] == row["3"]
            assert len(detail["5"]) == (5 if row["4"] == 1 else 2)
        assert "allowedVariations=" in detail["5"][-1]["1"]["4"]


def test_a_lookup_needs_the_right_advertiser(calls: Calls, rows: list[Json]) -> None:
    other = next(row for row in rows if row["1"] != rows[0]["1"])

    assert calls.archive.lookup(other["1"], rows[0]["2"]) == "{}"
    assert calls.archive.lookup("AR1", rows[0]["2"]) == "{}"
    assert rows_of(calls.archive, by_advertiser(other["1"]))
