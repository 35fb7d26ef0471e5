"""What every embedded server does: one suite for PostgreSQL, Valkey and Debian's Redis."""

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ppcfetch.adapters.embedded.server import EmbeddedServer
from ppcfetch.errors import ConfigurationError
from tests.contract.embedded import (
    DebianRedis,
    Kind,
    Postgres,
    Valkey,
    foreign_owner,
    password_in,
    playground,
    processes_in,
)
from tests.servers import free_port
from tests.waiting import wait_until

_KINDS = [Postgres(), Valkey(), DebianRedis()]


@pytest.fixture(params=_KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    found = request.param
    assert isinstance(found, Kind)
    return found


@pytest.fixture
def folder() -> Iterator[Path]:
    with playground() as parent:
        yield parent / 'a folder with spaces, "quotes" and a 100% ö'


@pytest.fixture
def server(kind: Kind, folder: Path) -> Iterator[EmbeddedServer]:
    made = kind.make(folder)
    with made:
        yield made
    made.destroy()


def test_it_answers_at_its_address_and_stop_leaves_no_process(
    kind: Kind, server: EmbeddedServer, folder: Path
) -> None:
    kind.put(server.url, "here")
    running = processes_in(folder)
    socket = Path((folder / "socket").read_text())

    server.stop()

    assert running
    assert not server.alive()
    assert processes_in(folder) == []
    assert not socket.exists()


def test_data_and_address_outlive_a_kill(kind: Kind, server: EmbeddedServer) -> None:
    kind.put(server.url, "kept")
    address = server.url

    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.alive(), describe="the killed server is gone")
    server.start()

    assert server.url == address
    assert kind.get(address) == "kept"


def test_data_and_address_outlive_the_owner(
    kind: Kind, server: EmbeddedServer, folder: Path
) -> None:
    kind.put(server.url, "kept")
    address = server.url
    server.stop()

    with kind.make(folder) as second:
        assert second.url == address
        assert kind.get(second.url) == "kept"


def test_starting_a_running_server_changes_nothing(server: EmbeddedServer) -> None:
    before = server.pid

    server.start()

    assert server.pid == before


def test_a_suspended_server_is_alive_without_answering_and_can_be_stopped(
    server: EmbeddedServer, folder: Path
) -> None:
    assert server.answers()
    os.kill(server.pid, signal.SIGSTOP)
    wait_until(lambda: not server.answers(), describe="the suspended server is silent")
    assert server.alive()

    server.stop()

    assert not server.answers()
    assert processes_in(folder) == []


def test_two_run_at_once_and_keep_their_data_apart(kind: Kind, folder: Path) -> None:
    with kind.make(folder / "one") as one, kind.make(folder / "two") as two:
        kind.put(one.url, "first")
        kind.put(two.url, "second")

        assert (kind.get(one.url), kind.get(two.url)) == ("first", "second")
    one.destroy()
    two.destroy()


@pytest.mark.parametrize("wrong", ["guess", ""])
def test_it_lets_nobody_in_without_the_right_password(
    kind: Kind, server: EmbeddedServer, wrong: str
) -> None:
    address = server.url.replace(password_in(server.url), wrong)

    assert kind.refuses(address)
    assert not kind.refuses(server.url)


def test_the_password_is_in_no_process_argument_and_in_private_files_only(
    server: EmbeddedServer, folder: Path
) -> None:
    secret = password_in(server.url)
    server_process = psutil.Process(server.pid)

    seen = [
        word
        for process in (server_process, *server_process.children(recursive=True))
        for word in (*process.cmdline(), *process.environ().values())
    ]
    holders = [
        path
        for path in folder.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]

    assert not [word for word in seen if secret in word]
    assert folder / "password" in holders
    assert {stat.S_IMODE(path.stat().st_mode) for path in holders} == {0o600}
    assert secret not in server.log.read_text()


def test_only_the_servers_user_may_enter_the_sockets_folder(
    server: EmbeddedServer, folder: Path
) -> None:
    socket = Path((folder / "socket").read_text())

    assert stat.S_IMODE(socket.stat().st_mode) == 0o700
    assert socket.stat().st_uid == psutil.Process(server.pid).uids().real


def test_somebody_elses_folder_under_the_remembered_socket_name_is_not_used(
    kind: Kind, server: EmbeddedServer, folder: Path
) -> None:
    kind.put(server.url, "kept")
    server.stop()
    remembered = Path((folder / "socket").read_text())
    remembered.mkdir()
    remembered.chmod(0o777)

    try:
        server.start()

        assert str(remembered) not in server.url
        assert kind.get(server.url) == "kept"
    finally:
        remembered.rmdir()


def test_a_second_owner_is_refused_while_the_first_one_lives(
    kind: Kind, server: EmbeddedServer, folder: Path
) -> None:
    second = kind.make(folder)

    with pytest.raises(ConfigurationError, match=f"in use by process {os.getpid()}"):
        second.start()

    kind.put(server.url, "undisturbed")
    assert kind.get(server.url) == "undisturbed"


def test_an_owner_that_has_stopped_does_not_disturb_its_successor(
    kind: Kind, server: EmbeddedServer, folder: Path
) -> None:
    server.stop()
    with kind.make(folder) as successor:
        kind.put(successor.url, "undisturbed")

        server.stop()
        with pytest.raises(ConfigurationError, match="in use"):
            server.start()

        assert kind.get(successor.url) == "undisturbed"


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_a_server_ends_with_its_owner(name: str, folder: Path) -> None:
    with foreign_owner(name, folder) as (owner, server, _):
        assert server in processes_in(folder)

        owner.kill()

        wait_until(lambda: not processes_in(folder), describe="the server ended with its owner")


@pytest.mark.parametrize("kind", _KINDS[:2], ids=lambda kind: kind.name, indirect=True)
def test_an_orphan_is_ended_before_the_next_start(kind: Kind, folder: Path) -> None:
    with foreign_owner(kind.name, folder) as (owner, orphan, url):
        kind.put(url, "kept")
        os.kill(orphan, signal.SIGSTOP)  # so that the owner's death does not reach it
        owner.kill()
    assert orphan in processes_in(folder)

    with kind.make(folder) as server:
        assert orphan not in processes_in(folder)
        assert kind.get(server.url) == "kept"


def test_a_port_on_loopback_is_served_when_asked_for(kind: Kind, folder: Path) -> None:
    port = free_port()

    with kind.make(folder, port=port) as server:
        kind.put(server.url, "over TCP")

        assert "127.0.0.1" in server.url
        assert str(port) in server.url
        assert kind.get(server.url) == "over TCP"
        listening = {c.laddr.ip for c in psutil.Process(server.pid).net_connections("inet")}
    assert listening == {"127.0.0.1"}


def test_a_port_that_is_taken_is_named_in_the_error(kind: Kind, folder: Path) -> None:
    port = free_port()
    with kind.make(folder / "one", port=port):
        second = kind.make(folder / "two", port=port)

        with pytest.raises(ConfigurationError, match="did not start"):
            second.start()

    assert processes_in(folder) == []


def test_a_folder_that_cannot_be_made_is_named_in_the_error(kind: Kind, folder: Path) -> None:
    folder.parent.joinpath("file").write_text("in the way")
    server = kind.make(folder.parent / "file" / "below")

    with pytest.raises(ConfigurationError, match=r"file.*PPCFETCH_DATA_DIR"):
        server.start()


def test_a_long_log_of_earlier_runs_moves_aside(server: EmbeddedServer, folder: Path) -> None:
    server.stop()
    server.log.write_bytes(b"x" * 6_000_000)

    server.start()

    assert (folder / "server.log.1").stat().st_size == 6_000_000
    assert server.log.stat().st_size < 1_000_000
