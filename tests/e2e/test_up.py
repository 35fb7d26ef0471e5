"""Everything with one command: started, used, damaged, stopped, started again."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from ppcfetch.adapters.embedded import running
from tests.e2e.visitor import Visitor
from tests.servers import free_port, short_folder
from tests.waiting import wait_until

PATIENCE = 120.0
DOMAIN = "ads-250.example"


@dataclass
class Up:
    """One `ppcfetch up` and what it printed."""

    folder: Path
    port: int
    popen: subprocess.Popen[bytes]
    output: Path

    def text(self) -> str:
        """Give all that it printed so far."""
        return self.output.read_text(encoding="utf-8")

    def wait_until_ready(self) -> None:
        """Wait for its welcome."""
        wait_until(
            lambda: "ppcfetch is running at" in self.text() or self.popen.poll() is not None,
            describe="everything is running",
            timeout=PATIENCE,
        )
        assert self.popen.poll() is None, self.text()

    def children(self) -> dict[int, str]:
        """Give the command line of every process below it."""
        found: dict[int, str] = {}
        parents = {self.popen.pid}
        while parents:
            below = {pid for pid in _pids() if _parent(pid) in parents} - set(found)
            found |= {pid: _command(pid) for pid in below}
            parents = below
        return found

    def child(self, words: str) -> int:
        """Give the oldest process below it whose command line holds the words, 0 when none does."""
        return min((pid for pid, line in self.children().items() if words in line), default=0)

    def wait_for_another(self, words: str, victim: int) -> None:
        """Wait until the program that was killed runs again."""
        wait_until(
            lambda: self.child(words) not in {0, victim},
            describe=f"{words} is running again",
            timeout=PATIENCE,
        )

    def stop(self) -> int:
        """Ask it to stop, and give its exit code."""
        self.popen.send_signal(signal.SIGTERM)
        return self.popen.wait(PATIENCE)


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A private folder with a space in its name: only its owner may enter."""
    with short_folder() as short:
        private = short / "my files"
        private.mkdir(mode=0o700)
        yield private


@contextmanager
def up(folder: Path, port: int) -> Iterator[Up]:
    """Start everything over a data folder; whatever happens, nothing is left running."""
    output = folder / f"output-{port}-{len(list(folder.iterdir()))}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PPCFETCH_")}
    with output.open("wb") as out:
        popen = subprocess.Popen(
            [sys.executable, "-m", "ppcfetch", "up", "--port", str(port)],
            cwd=folder,
            env={**kept, "PPCFETCH_LEASE_SECONDS": "2", "PPCFETCH_SWEEP_SECONDS": "0.5"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    started = Up(folder, port, popen, output)
    try:
        yield started
    finally:
        if popen.poll() is None:
            started.stop()


def test_a_first_and_a_second_start_over_one_folder(folder: Path) -> None:
    """The demo login works, what dies is started again, and a second start finds the ads."""
    port = free_port()
    with up(folder, port) as first:
        first.wait_until_ready()
        visitor = Visitor(f"http://127.0.0.1:{port}")
        email, password = (folder / "var" / "demo-login").read_text().split()
        assert password in first.text()
        assert (folder / "var" / "demo-login").stat().st_mode & 0o777 == 0o600
        visitor.log_in(email, password)
        for words in ("worker --pool interactive", "valkey-server"):
            victim = first.child(words)
            os.kill(victim, signal.SIGKILL)
            first.wait_for_another(words, victim)
        log = (folder / "var" / "logs" / "up.log").read_text(encoding="utf-8")
        events = [json.loads(line) for line in log.splitlines()]
        assert ("server.died", "Valkey") in [(e["event"], e.get("name")) for e in events]
        visitor.refresh(DOMAIN)
        wait_until(
            lambda: "250" in visitor.get(f"/domains/{DOMAIN}").get_text(),
            describe="the page has filled",
            timeout=PATIENCE,
        )
        visitor.close()
        below = first.children()

        assert first.stop() == 0

        assert not [line for pid, line in below.items() if _command(pid) == line]
        assert running.find(folder / "var") is None

    with up(folder, port) as second:
        second.wait_until_ready()
        held = httpx.get(f"http://127.0.0.1:{port}/domains/{DOMAIN}")

        assert held.status_code == 200
        assert "Invented data: this site asks an emulated archive." in held.text
        assert password not in second.text()
        assert "the password is in" in second.text()


def test_two_data_folders_run_on_one_machine(folder: Path) -> None:
    """Each has its own servers, and one folder belongs to one of them at a time."""
    other = folder / "other"
    other.mkdir()
    with up(folder, free_port()) as one, up(other, free_port()) as two:
        one.wait_until_ready()
        two.wait_until_ready()
        with up(folder, free_port()) as third:
            code = third.popen.wait(PATIENCE)

    assert code == 2
    assert re.search(r"in use by process \d+: .*PPCFETCH_DATA_DIR", third.text())


def test_a_taken_port_is_said_before_anything_starts(folder: Path) -> None:
    """The message names the setting and a way out."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with up(folder, port) as refused:
            code = refused.popen.wait(PATIENCE)

    assert code == 2
    assert f"PPCFETCH_PORT: 127.0.0.1:{port} cannot be used" in refused.text()
    assert not (folder / "var" / "postgres").exists()


def test_a_killed_supervisor_leaves_nothing_running(folder: Path) -> None:
    """And the next start over the folder works."""
    port = free_port()
    with up(folder, port) as killed:
        killed.wait_until_ready()
        below = killed.children()
        killed.popen.kill()
        killed.popen.wait()
        wait_until(
            lambda: not [line for pid, line in below.items() if _command(pid) == line],
            describe="all its programs have ended",
            timeout=PATIENCE,
        )

    with up(folder, port) as again:
        again.wait_until_ready()

        assert httpx.get(f"http://127.0.0.1:{port}/readyz").json()["status"] == "ok"
