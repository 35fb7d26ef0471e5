"""An empty answer means "no ads" only while the archive shows that it answers at all."""

import json
from collections import deque
from datetime import timedelta
from urllib.parse import parse_qs

import httpx
import pytest

from ppcfetch.adapters.archive.client import ArchiveClient
from ppcfetch.errors import ArchiveBlocked, ArchiveThrottled
from ppcfetch.model.ad import ArchivePage, Query, TotalRange
from ppcfetch.model.domain import DomainName
from tests.archive_answers import answer, row
from tests.archive_answers import written as wire

ASKED = Query(DomainName("bluebird.example"))
CONTROL = DomainName("busy.example")
NO_ADS = ArchivePage((), None, TotalRange(0, 0))

ROWS = httpx.Response(200, content=wire(answer(row())))
NOTHING = httpx.Response(200, content=b"{}")
ZERO_BYTES = httpx.Response(200, content=b"")
THROTTLED = httpx.Response(429)


class Script:
    """Gives prepared answers in order and remembers which domains were asked for."""

    def __init__(self, *answers: httpx.Response) -> None:
        self.answers = deque(answers)
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        form = json.loads(parse_qs(request.content.decode())["f.req"][0])
        self.asked.append(form["3"]["12"]["1"])
        given = self.answers.popleft()
        return httpx.Response(given.status_code, content=given.content)


def client(script: Script, memory: timedelta = timedelta(hours=1)) -> ArchiveClient:
    return ArchiveClient(
        "https://archive.example",
        opening=lambda *_: httpx.MockTransport(script),
        control=CONTROL,
        control_memory=memory,
    )


def test_an_empty_first_page_is_believed_when_the_control_has_ads() -> None:
    script = Script(NOTHING, ROWS)

    page = client(script).page(ASKED, None)

    assert page == NO_ADS
    assert script.asked == ["bluebird.example", "busy.example"]


@pytest.mark.parametrize("again", [ZERO_BYTES, NOTHING])
def test_a_body_without_a_byte_means_no_ads_when_it_comes_twice(again: httpx.Response) -> None:
    script = Script(ZERO_BYTES, ROWS, again)

    page = client(script).page(ASKED, None)

    assert page == NO_ADS
    assert script.asked == ["bluebird.example", "busy.example", "bluebird.example"]


@pytest.mark.parametrize("cursor", [None, "next"])
def test_a_body_without_a_byte_that_was_an_accident_hides_no_ads(cursor: str | None) -> None:
    script = Script(ZERO_BYTES, ROWS, ROWS)

    page = client(script).page(ASKED, cursor)

    assert len(page.ads) == 1


@pytest.mark.parametrize("control", [NOTHING, ZERO_BYTES])
def test_a_body_without_a_byte_for_everybody_is_a_block(control: httpx.Response) -> None:
    script = Script(ZERO_BYTES, control)

    with pytest.raises(ArchiveBlocked, match="not even for busy"):
        client(script).page(ASKED, None)


def test_an_answer_of_zero_ads_needs_no_control() -> None:
    script = Script(httpx.Response(200, content=b'{"4":"0","5":"0"}'))

    page = client(script).page(ASKED, None)

    assert page == NO_ADS


@pytest.mark.parametrize(
    "control", [NOTHING, ZERO_BYTES, httpx.Response(200, content=b'{"4":"0","5":"0"}')]
)
def test_an_empty_control_means_that_the_archive_answers_nobody(control: httpx.Response) -> None:
    script = Script(NOTHING, control)

    with pytest.raises(ArchiveBlocked, match="not even for busy"):
        client(script).page(ASKED, None)


def test_a_refused_control_is_refused_as_it_was() -> None:
    script = Script(NOTHING, THROTTLED)

    with pytest.raises(ArchiveThrottled):
        client(script).page(ASKED, None)


def test_a_good_control_is_remembered_for_a_while() -> None:
    script = Script(NOTHING, ROWS, NOTHING, NOTHING)
    archive = client(script)

    pages = [archive.page(ASKED, None) for _ in range(3)]

    assert pages == [NO_ADS] * 3
    assert script.asked.count("busy.example") == 1


def test_a_control_beyond_its_time_is_asked_again() -> None:
    script = Script(NOTHING, ROWS, NOTHING, NOTHING)
    archive = client(script, memory=timedelta(0))
    archive.page(ASKED, None)

    with pytest.raises(ArchiveBlocked):
        archive.page(ASKED, None)


def test_a_failed_control_is_not_remembered() -> None:
    script = Script(NOTHING, NOTHING, NOTHING, ROWS)
    archive = client(script)
    with pytest.raises(ArchiveBlocked):
        archive.page(ASKED, None)

    page = archive.page(ASKED, None)

    assert page == NO_ADS


def test_nothing_for_a_cursor_is_said_only_beside_a_good_answer() -> None:
    script = Script(NOTHING, ROWS, NOTHING, NOTHING)

    page = client(script).page(ASKED, "next")
    with pytest.raises(ArchiveBlocked):
        client(script).page(ASKED, "next")

    assert (page.ads, page.next_cursor, page.total) == ((), None, None)
