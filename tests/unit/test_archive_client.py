"""The archive's client over a scripted transport: what it sends, and what each answer ends in."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from ppcfetch.adapters.archive.client import ArchiveClient
from ppcfetch.errors import (
    ArchiveBlocked,
    ArchiveChanged,
    ArchiveRejected,
    ArchiveThrottled,
    ArchiveUnavailable,
    ConfigurationError,
    PpcFetchError,
    Retryable,
)
from ppcfetch.model.ad import AdFormat, Query
from ppcfetch.model.domain import DomainName
from tests.archive_answers import NOW, answer, row
from tests.archive_answers import written as wire

ASKED = Query(DomainName("bluebird.example"))
PAGE = wire(answer(row()))


def client(respond: Callable[[httpx.Request], httpx.Response]) -> ArchiveClient:
    transport = httpx.MockTransport(respond)
    return ArchiveClient("https://archive.example/", opening=lambda *_: transport, now=lambda: NOW)


def answering(status: int, body: bytes = b"", **headers: str) -> ArchiveClient:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client(lambda _: httpx.Response(status, headers=named, stream=httpx.ByteStream(body)))


def test_a_page_is_asked_for_as_the_archives_own_web_page_does() -> None:
    seen: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, content=PAGE, headers={"set-cookie": "NID=1"})

    archive = client(respond)
    archive.page(ASKED, None)
    archive.page(ASKED, "next")

    assert [str(request.url) for request in seen] == [
        "https://archive.example/anji/_/rpc/SearchService/SearchCreatives?authuser=0"
    ] * 2
    for request in seen:
        assert request.method == "POST"
        assert request.headers["x-same-domain"] == "1"
        assert request.headers["content-type"] == "application/x-www-form-urlencoded"
        assert request.headers["accept-encoding"] == "gzip"
        assert request.headers["user-agent"] == "ppcfetch"
        assert "cookie" not in request.headers
    assert [sent(request).get("4") for request in seen] == [None, "next"]


@pytest.mark.parametrize(
    ("status", "body", "headers", "kind", "says"),
    [
        (
            302,
            b"",
            {"location": "https://me:pw@www.google.com/sorry/index?continue=x"},
            ArchiveBlocked,
            "the archive sends us elsewhere (302 to www.google.com)",
        ),
        (301, b"", {"location": "/other"}, ArchiveBlocked, "the archive sends us elsewhere (301)"),
        (307, b"", {}, ArchiveBlocked, "the archive sends us elsewhere (307)"),
        (401, b"", {}, ArchiveBlocked, "the archive refuses this address (401)"),
        (403, b"x", {}, ArchiveBlocked, "the archive refuses this address (403)"),
        (
            200,
            b" \n<!doctype html>",
            {},
            ArchiveBlocked,
            "the archive answers with a web page instead of data",
        ),
        (
            200,
            b"Unusual traffic",
            {"content_type": "text/html; charset=utf-8"},
            ArchiveBlocked,
            "the archive answers with a web page instead of data",
        ),
        (429, b'{"5":429}', {}, ArchiveThrottled, "the archive asks for fewer calls (429)"),
        (404, b"<html>", {}, ArchiveUnavailable, "the archive answers with status 404"),
        (500, b"", {}, ArchiveUnavailable, "the archive answers with status 500"),
        (503, b"", {}, ArchiveUnavailable, "the archive answers with status 503"),
        (408, b"", {}, ArchiveUnavailable, "the archive answers with status 408"),
        (204, b"", {}, ArchiveUnavailable, "the archive answers with status 204"),
        (
            400,
            b'{"2":"com.x.BadRequestException: no\\u0000 ","5":400,"9":3}',
            {},
            ArchiveRejected,
            "the archive rejects the request: com.x.BadRequestException: no",
        ),
        (
            400,
            b"<p>Bad\x1b[31m\r\n request \xff</p>",
            {},
            ArchiveRejected,
            "the archive rejects the request: <p>Bad [31m request \ufffd</p>",
        ),
        (
            200,
            PAGE[:-5],
            {},
            ArchiveUnavailable,
            "the archive's answer is cut or damaged JSON",
        ),
        (
            200,
            PAGE,
            {"content_encoding": "br"},
            ArchiveChanged,
            'the archive answered in the encoding "br", which we did not ask for',
        ),
        (
            200,
            PAGE,
            {"content_encoding": "gzip"},
            ArchiveUnavailable,
            "the archive's answer is damaged gzip",
        ),
        (
            200,
            b" " * (8 * 1024 * 1024 + 1),
            {},
            ArchiveChanged,
            "the archive's answer is larger than 8,388,608 bytes",
        ),
    ],
)
def test_each_refusal_ends_in_the_error_that_says_what_to_do(
    *, status: int, body: bytes, headers: dict[str, str], kind: type[PpcFetchError], says: str
) -> None:
    archive = answering(status, body, **headers)

    with pytest.raises(PpcFetchError) as refused:
        archive.page(ASKED, None)

    assert type(refused.value) is kind
    assert str(refused.value) == says


@pytest.mark.parametrize(
    ("value", "delay"),
    [
        (None, None),
        ("30", timedelta(seconds=30)),
        (" 0 ", timedelta(0)),
        ("-5", timedelta(0)),
        ("86400", timedelta(hours=1)),
        ("9" * 18, timedelta(hours=1)),
        ("9" * 5000, None),
        ("Mon, 30 Nov 2026 12:01:00 GMT", timedelta(minutes=1)),
        ("Mon, 30 Nov 2026 12:01:00 -0000", timedelta(minutes=1)),
        ("Mon, 30 Nov 2026 11:00:00 GMT", timedelta(0)),
        ("Tue, 01 Dec 2026 12:00:00 GMT", timedelta(hours=1)),
        ("Fri, 99 Nov 2026 99:99:99 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 -2359", timedelta(hours=1)),
        ("soon", None),
        ("1.5", None),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_the_delay_that_the_archive_asks_for_is_respected_up_to_an_hour(
    status: int, value: str | None, delay: timedelta | None
) -> None:
    archive = answering(status) if value is None else answering(status, retry_after=value)

    with pytest.raises(Retryable) as refused:
        archive.page(ASKED, None)

    assert refused.value.retry_after == delay


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (
            httpx.ReadTimeout("secret"),
            "the archive at archive.example did not finish its answer in time",
        ),
        (
            httpx.ConnectError("[Errno 111] refused"),
            "the connection to the archive at archive.example failed: [Errno 111] refused",
        ),
        (
            httpx.RemoteProtocolError("peer closed connection"),
            "the connection to the archive at archive.example failed: peer closed connection",
        ),
    ],
)
def test_a_failed_exchange_is_worth_trying_again(failure: httpx.TransportError, says: str) -> None:
    def respond(_: httpx.Request) -> httpx.Response:
        raise failure

    with pytest.raises(ArchiveUnavailable) as refused:
        client(respond).page(ASKED, None)

    assert str(refused.value) == says
    assert refused.value.__cause__ is failure


def test_the_whole_call_has_the_deadline_that_was_set() -> None:
    limits: list[float] = []

    def respond(request: httpx.Request) -> httpx.Response:
        limits.append(request.extensions["timeout"]["read"])
        return httpx.Response(200, content=b"{}" if len(limits) == 1 else PAGE)

    archive = ArchiveClient(
        "https://archive.example",
        opening=lambda *_: httpx.MockTransport(respond),
        deadline=timedelta(seconds=20),
    )
    archive.page(ASKED, None)

    asked, control = limits
    assert 0 < control < asked <= 20


def test_without_time_left_nothing_is_sent() -> None:
    archive = ArchiveClient(
        "https://archive.example",
        opening=lambda *_: httpx.MockTransport(lambda _: httpx.Response(200, content=PAGE)),
        deadline=timedelta(0),
    )

    with pytest.raises(ArchiveUnavailable, match="no time was left"):
        archive.page(ASKED, None)


def test_odd_dates_are_judged_by_the_clock_of_the_client() -> None:
    shown = {"1": str(int(datetime(2027, 6, 1, tzinfo=UTC).timestamp()))}

    page = answering(200, wire(answer(row(k7=shown)))).page(ASKED, None)

    assert page.warnings == ("1 × last shown that cannot be true",)


def test_a_query_that_the_archive_has_no_words_for_is_never_sent() -> None:
    archive = answering(200, PAGE)

    with pytest.raises(ArchiveRejected):
        archive.page(Query(ASKED.domain, AdFormat.UNKNOWN), None)


@pytest.mark.parametrize(
    "address",
    ["", "archive.example", "ftp://archive.example", "https://", "https://me:secret@a.example",
     "http://a.example:port"],
)  # fmt: skip
def test_an_address_that_cannot_be_asked_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        ArchiveClient(address)

    assert "secret" not in str(refused.value)


def sent(request: httpx.Request) -> dict[str, Any]:
    found = json.loads(parse_qs(request.content.decode())["f.req"][0])
    assert isinstance(found, dict)
    return found
