"""The archive over real proxies: bad ones rest, the walk goes on, and nobody tells a password."""

import io
import json
import logging
import socket
import ssl
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from fixtures.emulator.server import EmulatorServer
from ppcfetch.adapters import logs
from ppcfetch.adapters.archive.client import ArchiveClient
from ppcfetch.adapters.archive.transport import BoundedTransport
from ppcfetch.adapters.clock import SystemClock
from ppcfetch.adapters.redis.connections import Connections, connect
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.pace import PaceRules, RedisPace
from ppcfetch.bootstrap.worker import open_worker
from ppcfetch.errors import ProxyFailed
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.domain import DomainName
from ppcfetch.model.egress import Permit, egress_names, parse_proxies
from ppcfetch.model.job import Pool
from ppcfetch.settings import load_settings
from ppcfetch.usecases.ask_archive import Asking, ask_page
from tests.archive_answers import NOW
from tests.builders import a_job
from tests.contract.commands_rig import Commands
from tests.contract.emulator import behave, running_emulator
from tests.emulated_archive import LoneRun
from tests.proxies import PASSWORD, USER, Proxy, babble, forward, hang_up, refuse, running, socks

CERTIFICATE = Path(__file__).parents[1] / "localhost.pem"
LONG = timedelta(minutes=10)
RULES = PaceRules(throttled_rest=LONG, failed_rest=LONG, longest_rest=LONG)
"""Rests that no slow test outlasts."""
BUSY = Query(DomainName("ads-2350.example"))


@pytest.fixture
def redis(redis_url: str) -> Iterator[Connections]:
    """Clients of the Redis that keeps the paces."""
    made = connect(redis_url, block=timedelta(0))
    yield made
    made.close()


@pytest.fixture
def emulator() -> Iterator[EmulatorServer]:
    """An archive without faults."""
    with running_emulator() as server:
        yield server


@contextmanager
def closed_port() -> Iterator[str]:
    """Give a place where nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


def asking(redis: Connections, archive: ArchiveClient, egresses: tuple[str, ...]) -> Asking:
    pace = RedisPace(
        redis.rest,
        Keys(),
        egresses=egresses,
        rate_per_second=10_000,
        clock=SystemClock(),
        asker="host.bulk.1",
        rules=RULES,
    )
    return Asking(archive, pace, SystemClock(), timedelta(minutes=1))


def ended(steps: Generator[None, None, ArchivePage]) -> ArchivePage:
    """Go on to the end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            page: ArchivePage = end.value
            return page


def walked(using: Asking) -> set[str]:
    """Walk to the end as a worker does, and give the ads that were read."""
    found: set[str] = set()
    cursor: str | None = None
    while True:
        page = ended(ask_page(LoneRun(a_job(query=BUSY)), BUSY, cursor, asking=using))
        found |= {ad.creative_id for ad in page.ads}
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_a_walk_goes_on_over_the_good_proxies_and_leaves_the_bad_ones_alone(
    redis: Connections, emulator: EmulatorServer, commands: Commands
) -> None:
    log = io.StringIO()
    logs.configure(stream=log, level=logging.DEBUG)
    with ExitStack() as stack:
        proxies = stack.enter_context(running(forward, socks, refuse, forward))
        plain, sock, refusing, throttled = proxies
        walled = stack.enter_context(running_emulator())
        behave(walled, fault="json_429", retry_after=600)
        throttled.instead = ("127.0.0.1", walled.server_port)
        nobody = stack.enter_context(closed_port())
        text = ",".join(
            [one.address("socks5" if one is sock else "http") for one in proxies]
            + [f"http://{USER}:{PASSWORD}@{nobody}"]
        )
        ways = parse_proxies(text)
        archive = stack.enter_context(ArchiveClient(emulator.url, proxies=ways, now=lambda: NOW))

        found = walked(asking(redis, archive, egress_names(ways)))

        commands.settings["PPCFETCH_PROXIES"] = text
        rows = {row["egress"]: row for row in commands.json("status", "--egresses")}
        told = commands.run("status").stdout + commands.run("doctor").stdout

    assert len(found) == 2350
    assert [one.asked for one in (refusing, throttled)] == [1, 1]
    assert min(plain.asked, sock.asked) > 0
    assert {name: row["state"] for name, row in rows.items()} == {
        plain.name: "well",
        sock.name: "well",
        refusing.name: "resting",
        throttled.name: "resting",
        nobody: "resting",
    }
    assert "status 407" in rows[refusing.name]["why"]
    assert "429" in rows[throttled.name]["why"]
    assert "refused" in rows[nobody]["why"]
    assert refusing.name in told
    secrets = (PASSWORD, f"{USER}:")
    assert not [one for one in secrets if one in told + log.getvalue() + kept(redis) + str(rows)]


def kept(redis: Connections) -> str:
    """Give all that Redis keeps of the paces, names and values."""
    keys = [key.decode() for key in redis.rest.scan_iter("*pace*")]
    return "".join(key + str(redis.rest.dump(key)) for key in keys)


@pytest.mark.parametrize(
    ("scheme", "speak", "why"),
    [
        pytest.param("http", refuse, "status 407", id="407"),
        pytest.param("socks5", socks, "refuses our user or password", id="wrong password"),
        pytest.param("socks5", babble, "does not speak SOCKS 5", id="not SOCKS"),
        pytest.param("socks5", hang_up, "hung up", id="hangs up"),
    ],
)
def test_a_proxy_that_does_not_let_us_through_is_told_apart_from_the_archive(
    emulator: EmulatorServer, scheme: str, speak: object, why: str
) -> None:
    with running(speak) as (proxy,):  # type: ignore[arg-type]  # pytest's parameters are objects
        address = f"{scheme}://{USER}:wrong-{PASSWORD}@{proxy.name}"
        with (
            ArchiveClient(emulator.url, proxies=parse_proxies(address)) as archive,
            pytest.raises(ProxyFailed, match=why) as failed,
        ):
            archive.page(BUSY, None)

    assert PASSWORD not in str(failed.value) + repr(failed.value.__cause__)


def test_an_https_archive_is_reached_through_a_tunnel(emulator: EmulatorServer) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(CERTIFICATE)
    emulator.socket = server.wrap_socket(emulator.socket, server_side=True)
    opening = partial(BoundedTransport, trust=ssl.create_default_context(cafile=str(CERTIFICATE)))
    address = f"https://localhost:{emulator.server_port}"

    with running(forward, socks) as (plain, sock):
        for one, scheme in ((plain, "http"), (sock, "socks5")):
            ways = parse_proxies(one.address(scheme))
            with ArchiveClient(address, proxies=ways, opening=opening, now=lambda: NOW) as archive:
                assert len(archive.page(BUSY, None).ads) == 100

        assert (plain.asked, sock.asked) == (1, 1)


def test_a_proxy_that_never_answers_ends_with_the_deadline(emulator: EmulatorServer) -> None:
    def silent(_proxy: Proxy, client: socket.socket) -> None:
        while client.recv(4096):
            pass

    with running(silent) as (proxy,):
        ways = parse_proxies(proxy.address("socks5"))
        soon = timedelta(seconds=0.5)
        with (
            ArchiveClient(emulator.url, proxies=ways, deadline=soon) as archive,
            pytest.raises(ProxyFailed, match="gave no answer"),
        ):
            archive.page(BUSY, None)


def test_workers_and_commands_ask_over_the_proxies_that_are_set(
    emulator: EmulatorServer, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(socks) as (sock,):
        commands.settings = {
            "PPCFETCH_ARCHIVE_URL": emulator.url,
            "PPCFETCH_PROXIES": sock.address("socks5"),
        }
        shown = commands.run("archive", "probe", "ads-7.example")
        for name, value in commands.settings.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("PPCFETCH_DATABASE_URL", commands.database_url)
        monkeypatch.setenv("PPCFETCH_REDIS_URL", commands.redis_url)
        with open_worker(load_settings(), pool=Pool.BULK, threads=1) as ports:
            assert isinstance(ports.handler, partial)
            leave = ports.handler.keywords["pace"].ask(Pool.BULK)
            page = ports.handler.keywords["archive"].page(BUSY, None, via=leave.egress)

    assert len(json.loads(shown.stdout)["ads"]) == 7
    assert leave == Permit(sock.name)
    assert len(page.ads) == 100
    assert sock.asked == 2
