"""Reading the emulator's answers the way the protocol describes them, independent of ppcfetch."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

from fixtures.emulator.archive import Archive, Wanted
from fixtures.emulator.requests import search_request
from fixtures.emulator.truth import truth_lines

TODAY = date(2026, 11, 30)
Json = dict[str, Any]
_FORMATS = {1: "text", 2: "image", 3: "video"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def archive(seed: int = 7) -> Archive:
    """A fresh archive of a fixed day."""
    return Archive(seed, TODAY)


def query(domain: str, *, size: int = 100, cursor: str | None = None, **narrowed: object) -> Json:
    """The fields of a search by domain; `narrowed` are filter keys such as `f4=1`."""
    wanted: Json = {"12": {"1": domain, "2": True}}
    wanted |= {key.removeprefix("f"): value for key, value in narrowed.items()}
    fields: Json = {"2": size, "3": wanted, "7": {"1": 1, "2": 0, "3": 2840}}
    return fields if cursor is None else fields | {"4": cursor}


def by_advertiser(*advertisers: str, size: int = 100, cursor: str | None = None) -> Json:
    """The fields of a search by advertiser."""
    return query("", size=size, cursor=cursor, f13={"1": list(advertisers)})


def ask(source: Archive, fields: Json, wanted: Wanted | None = None) -> Json:
    """One decoded answer to a search."""
    return decoded(text_of(source, fields, wanted))


def text_of(source: Archive, fields: Json, wanted: Wanted | None = None) -> str:
    """One answer to a search as it goes over the wire."""
    request = search_request(fields)
    found = source.search(request, wanted or Wanted("shown"))
    return source.writer.page(found, with_domain=bool(request.text))


def decoded(text: str) -> Json:
    """An answer as an object."""
    value = json.loads(text)
    assert isinstance(value, dict)
    return value


def walk(source: Archive, fields: Json, wanted: Wanted | None = None) -> Iterator[Json]:
    """Every page of a search, by following its cursors."""
    while True:
        page = ask(source, fields, wanted)
        yield page
        if "2" not in page:
            return
        fields = fields | {"4": page["2"]}


def rows_of(source: Archive, fields: Json, wanted: Wanted | None = None) -> list[Json]:
    """Every row of a search."""
    return [row for page in walk(source, fields, wanted) for row in page.get("1", [])]


def truth(source: Archive, domain: str) -> list[Json]:
    """What the truth endpoint tells about a domain."""
    portfolio = source.catalogue.portfolio(domain)
    assert portfolio is not None
    return [json.loads(line) for line in truth_lines(source, portfolio)]


def fact(row: Json) -> Json:
    """A row read into the truth's form."""
    return {
        "advertiser": row["1"],
        "creative": row["2"],
        "format": _FORMATS.get(row.get("4", 0), "unknown"),
        "first_shown": _iso(row.get("6")),
        "last_shown": _iso(row.get("7")),
        "name": row.get("12"),
    }


def _iso(instant: Json | None) -> str | None:
    if instant is None or not 978_307_200 <= int(instant["1"]) <= 4_102_444_800:
        return None
    microseconds = int(instant["1"]) * 1_000_000 + instant.get("2", 0) // 1000
    return (_EPOCH + timedelta(microseconds=microseconds)).isoformat(timespec="microseconds")
