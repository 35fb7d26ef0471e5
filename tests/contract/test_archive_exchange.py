"""The archive's client against real sockets: slow, cut, broken, too large, or simply good."""

import gzip
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest

from ppcfetch.adapters.archive.client import ArchiveClient
from ppcfetch.adapters.archive.transport import BoundedTransport
from ppcfetch.errors import ArchiveBlocked, ArchiveChanged, ArchiveUnavailable
from ppcfetch.model.ad import Query
from ppcfetch.model.domain import DomainName
from tests.archive_answers import answer, row
from tests.archive_answers import written as wire
from tests.raw_server import Connection, serving
from tests.waiting import wait_until

ASKED = Query(DomainName("bluebird.example"))
PAGE = wire(answer(*(row(number) for number in range(100))))
PACKED = gzip.compress(PAGE)
SOON = timedelta(seconds=0.5)
"""Long before any of the slow answers here would be whole."""


def head(length: int | None, *more: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json; charset=utf-8", *more]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, "", ""]).encode()


WHOLE = head(len(PAGE)) + PAGE
WHOLE_PACKED = head(len(PACKED), "Content-Encoding: gzip") + PACKED
CHUNKED = head(None, "Transfer-Encoding: chunked")


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def once(act: Callable[[Connection], None]) -> Callable[[Connection], None]:
    """Read one request, then act and close."""

    def script(connection: Connection) -> None:
        connection.request()
        act(connection)

    return script


def always(connection: Connection) -> None:
    while connection.request():
        connection.send(WHOLE)


def client(address: str, deadline: timedelta = timedelta(seconds=30)) -> ArchiveClient:
    return ArchiveClient(address, deadline=deadline)


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda c: c.wait(), id="silence"),
        pytest.param(lambda c: c.drip(WHOLE), id="headers drip"),
        pytest.param(lambda c: (c.send(WHOLE[:200]), c.drip(WHOLE[200:])), id="body drips"),
        pytest.param(
            lambda c: (c.send(WHOLE_PACKED[:150]), c.drip(WHOLE_PACKED[150:])),
            id="packed body drips",
        ),
        pytest.param(
            lambda c: (c.send(CHUNKED), c.drip(b"".join(map(chunk, [PAGE[:9], PAGE[9:], b""])))),
            id="chunks drip",
        ),
        pytest.param(
            lambda c: c.drip(b"HTTP/1.1 100 Continue\r\n\r\n" * 200 + WHOLE), id="never begins"
        ),
        pytest.param(lambda c: (c.send(WHOLE[:-1]), c.wait()), id="last byte never comes"),
    ],
)
def test_one_deadline_ends_the_exchange_however_the_answer_is_delayed(
    act: Callable[[Connection], None],
) -> None:
    with (
        serving(once(act)) as server,
        client(server.address, SOON) as archive,
        pytest.raises(ArchiveUnavailable, match="in time"),
    ):
        archive.page(ASKED, None)


def test_an_encrypted_connection_that_is_never_agreed_ends_at_the_deadline() -> None:
    with serving(lambda connection: connection.wait()) as server:
        address = server.address.replace("http:", "https:")

        with client(address, SOON) as archive, pytest.raises(ArchiveUnavailable):
            archive.page(ASKED, None)


def test_after_an_exchange_that_ran_out_of_time_the_next_one_is_on_its_own() -> None:
    slow = iter([True, False])

    def act(connection: Connection) -> None:
        return connection.drip(WHOLE) if next(slow) else connection.send(WHOLE)

    with (
        serving(once(act)) as server,
        client(server.address, SOON) as archive,
    ):
        with pytest.raises(ArchiveUnavailable):
            archive.page(ASKED, None)

        page = archive.page(ASKED, None)

    assert len(page.ads) == 100


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda _: None, id="closed before the answer"),
        pytest.param(lambda c: c.reset(), id="reset before the answer"),
        pytest.param(lambda c: c.send(WHOLE[:60]), id="closed in the headers"),
        pytest.param(lambda c: c.send(WHOLE[:5000]), id="closed in the body"),
        pytest.param(lambda c: (c.send(WHOLE[:5000]), c.reset()), id="reset in the body"),
        pytest.param(lambda c: c.send(CHUNKED + chunk(PAGE)), id="last chunk missing"),
        pytest.param(
            lambda c: c.send(head(None, "Connection: close") + PAGE[:5000]), id="cut, no length"
        ),
        pytest.param(
            lambda c: c.send(head(900, "Content-Encoding: gzip") + PACKED[:900]), id="cut gzip"
        ),
        pytest.param(
            lambda c: c.send(
                head(len(PACKED) - 4, "Content-Encoding: gzip") + PACKED[:-4]
            ),
            id="gzip without its end",
        ),
        pytest.param(
            lambda c: c.send(
                head(len(PACKED), "Content-Encoding: gzip") + PACKED[:-8] + b"\0" * 8
            ),
            id="gzip with a wrong checksum",
        ),
        pytest.param(lambda c: c.send(b"SSH-2.0-OpenSSH_9\r\n"), id="not HTTP"),
        pytest.param(lambda c: c.send(b"HTTP/1.1 200 OK\r\nX:" + b"x" * 300_000), id="long header"),
        pytest.param(lambda c: c.send(head(0, status="503 Away")), id="away"),
    ],
)  # fmt: skip
def test_a_broken_exchange_is_worth_trying_again(act: Callable[[Connection], None]) -> None:
    with (
        serving(once(act)) as server,
        client(server.address) as archive,
        pytest.raises(ArchiveUnavailable),
    ):
        archive.page(ASKED, None)


def test_nobody_listening_is_worth_trying_again() -> None:
    with serving(always) as server:
        address = server.address

    with client(address) as archive, pytest.raises(ArchiveUnavailable, match="refused"):
        archive.page(ASKED, None)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(head(None) + b'{"1":[' + b" " * (9 << 20), id="plain"),
        pytest.param(
            head(None, "Content-Encoding: gzip") + gzip.compress(b" " * (64 << 20)), id="bomb"
        ),
        pytest.param(
            head(None, "Content-Encoding: gzip") + PACKED + b" " * (9 << 20), id="endless rest"
        ),
    ],
)
def test_a_body_that_is_too_large_is_left_where_it_is(body: bytes) -> None:
    with (
        serving(once(lambda connection: connection.send(body))) as server,
        client(server.address) as archive,
        pytest.raises(ArchiveChanged) as changed,
    ):
        archive.page(ASKED, None)

    assert changed.value.field == "body"


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(WHOLE, id="plain"),
        pytest.param(WHOLE_PACKED, id="gzip"),
        pytest.param(CHUNKED + b"".join(map(chunk, [PAGE[:9], PAGE[9:], b""])), id="chunks"),
        pytest.param(head(None, "Connection: close") + PAGE, id="ended by closing"),
    ],
)
def test_a_good_answer_is_read_in_whatever_way_it_comes(sent: bytes) -> None:
    with (
        serving(once(lambda connection: connection.send(sent))) as server,
        client(server.address) as archive,
    ):
        page = archive.page(ASKED, None)

    assert len(page.ads) == 100
    assert page.warnings == ()


def test_a_redirect_is_not_followed() -> None:
    with serving(always) as other:
        moved = head(0, f"Location: {other.address}/anji", status="302 Found")

        with (
            serving(once(lambda connection: connection.send(moved))) as server,
            client(server.address) as archive,
            pytest.raises(ArchiveBlocked),
        ):
            archive.page(ASKED, None)

        assert other.accepted == 0


def test_pages_share_a_connection_that_is_kept() -> None:
    with serving(always) as server, client(server.address) as archive:
        for _ in range(5):
            archive.page(ASKED, None)

        assert server.accepted == 1


def test_a_kept_connection_that_the_archive_has_closed_is_replaced() -> None:
    with (
        serving(once(lambda connection: connection.send(WHOLE))) as server,
        client(server.address) as archive,
    ):
        archive.page(ASKED, None)
        wait_until(lambda: server.ended == 1, describe="the archive has closed the connection")

        page = archive.page(ASKED, None)

        assert len(page.ads) == 100
        assert server.accepted == 2


def test_a_name_is_looked_up_and_asked_like_a_number() -> None:
    with (
        serving(always) as server,
        client(server.address.replace("127.0.0.1", "localhost")) as archive,
    ):
        page = archive.page(ASKED, None)

    assert len(page.ads) == 100


def test_no_proxy_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(always) as proxy, serving(always) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.address)

        with client(server.address) as archive:
            archive.page(ASKED, None)

        assert (proxy.accepted, server.accepted) == (0, 1)


def test_no_other_host_is_ever_asked() -> None:
    with serving(always) as server, serving(always) as other:
        transport = BoundedTransport(httpx.URL(server.address))
        request = httpx.Request("POST", other.address, extensions={"timeout": {"read": 5.0}})

        with pytest.raises(httpx.UnsupportedProtocol):
            transport.handle_request(request)

        assert other.accepted == 0


def test_one_client_serves_many_threads() -> None:
    with (
        serving(always) as server,
        client(server.address) as archive,
        ThreadPoolExecutor(8) as threads,
    ):
        pages = list(threads.map(lambda _: archive.page(ASKED, None), range(64)))

        assert [len(page.ads) for page in pages] == [100] * 64
        assert server.accepted <= 8
