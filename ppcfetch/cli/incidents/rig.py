"""Servers, emulator and workers of a replay: all its own, all gone afterwards."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import Request as WebRequest
from urllib.request import urlopen

from ppcfetch.adapters.database import migrate
from ppcfetch.adapters.embedded import launcher
from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from ppcfetch.bootstrap.incident import IncidentPorts, open_incident
from ppcfetch.cli.incidents.patience import POLL_SECONDS, wait
from ppcfetch.errors import PpcFetchError
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason
from ppcfetch.ports import Request
from ppcfetch.settings import PREFIX, load_settings

HOST = "127.0.0.1"
WAIT_SECONDS = 600.0
"""For anything at all: a machine under load may take as long as it likes."""
START_SECONDS = 120.0
FIRM_SECONDS = 10.0
STALL_LEASES = 60
ENDLESS = "1000"
"""Starts and attempts: that a slow machine loses leases must not make a job dead."""


@dataclass
class Rig:
    """Everything that a replay stands on. Units: lease is in seconds."""

    folder: Path
    lease: float
    ports: IncidentPorts
    archive: str
    settings: dict[str, str]
    tell: Callable[[str], None]
    _children: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _starting: dict[Path, subprocess.Popen[bytes]] = field(default_factory=dict)

    def worker(self, pool: str, *, host: str, **settings: object) -> subprocess.Popen[bytes]:
        """Start one of our workers with one slot, under a host's name; see `wait_for_workers`."""
        log = self.folder / f"worker-{len(self._children)}.log"
        ours = {f"{PREFIX}{name.upper()}": str(value) for name, value in settings.items()}
        child = self._start(
            ["-m", "ppcfetch", "worker", "--pool", pool, "--threads", "1"],
            log=log,
            settings={**ours, f"{PREFIX}WORKER_NAME": host},
        )
        self._starting[log] = child
        return child

    def wait_for_workers(self) -> None:
        """Return when all of our workers that were started look for work."""
        for log, child in self._starting.items():
            self.wait(partial(_has_started, log), "it worked", child)
        self._starting.clear()

    def naive_worker(
        self, queue: str, name: str, *, claim_seconds: float | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a worker as it is usually written; its consumer name is new each time."""
        arguments = ["-m", "ppcfetch.cli.incidents.naive_worker", queue, name]
        if claim_seconds is not None:
            arguments += ["--claim-seconds", str(claim_seconds)]
        log = self.folder / f"naive-{len(self._children)}.log"
        return self._start(arguments, log=log, settings={})

    def stop(
        self, processes: Sequence[subprocess.Popen[bytes]], *, number: int = signal.SIGTERM
    ) -> None:
        """Send processes a signal and wait for their end, which comes by force if need be."""
        for process in processes:
            process.send_signal(number)
        for process in processes:
            try:
                process.wait(FIRM_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def stop_all(self) -> None:
        """End whatever still runs."""
        self.stop([one for one in self._children if one.poll() is None])

    def request(self, domains: Collection[str], reason: FetchReason = FetchReason.COMMAND) -> None:
        """Ask for domains to be refreshed, as `ppcfetch fetch` does."""
        for domain in domains:
            self.ports.request(Request(DomainName.parse(domain), reason, force=True))

    def behave(self, **behaviour: object) -> None:
        """Make the archive behave in a way until told otherwise."""
        self._control("PUT", "behaviour", json.dumps(behaviour).encode())

    def forget_requests(self) -> None:
        """Let the archive count its requests from nothing, once it has answered all."""
        self.wait(lambda: not self._requests()["in_flight"], "the archive has answered all")
        self._control("DELETE", "requests")

    def pages_asked_again(self, domains: Collection[str]) -> int:
        """Give how many pages of these domains the archive was asked for once more."""
        searches = self._requests()["searches"]
        asked = [(one["domain"], one["cursor"]) for one in searches if one["domain"] in domains]
        return len(asked) - len(set(asked))

    def truth(self, domain: str) -> set[str]:
        """Give the ids of the archive's own ads of a domain."""
        lines = self._control("GET", f"truth/{domain}").splitlines()
        return {json.loads(line)["creative"] for line in lines}

    def wait(
        self,
        predicate: Callable[[], Any],
        what: str,
        child: subprocess.Popen[bytes] | None = None,
        *,
        left: Callable[[], str] = str,
    ) -> None:
        """Return when something holds. Raises: PpcFetchError, as `patience.wait` does."""
        seconds = WAIT_SECONDS * max(1.0, self.lease)
        wait(predicate, what, seconds=seconds, child=child, left=left)

    def _start(
        self, arguments: Sequence[str], *, log: Path, settings: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        child = start_program(
            arguments, log=log, folder=self.folder, settings={**self.settings, **settings}
        )
        self._children.append(child)
        return child

    def _requests(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._control("GET", "requests"))
        return found

    def _control(self, method: str, path: str, body: bytes | None = None) -> bytes:
        request = WebRequest(f"{self.archive}/_emulator/{path}", data=body, method=method)  # noqa: S310 - our own emulator
        with urlopen(request, timeout=START_SECONDS) as answer:  # noqa: S310 - as above
            content: bytes = answer.read()
            return content


@contextmanager
def open_rig(lease: float, tell: Callable[[str], None]) -> Iterator[Rig]:
    """Start servers and the emulator in a temporary folder; stop all and delete it at the end."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="ppcfetch-incident-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o711)  # the database's own user passes through
        tell("Starting a PostgreSQL, a Valkey and an archive for this replay only …")
        database = EmbeddedPostgres(folder / "postgres", durable=False)
        redis = EmbeddedValkey(folder / "valkey", persistent=False)
        for server in (database, redis):
            stack.callback(server.destroy)
            server.start()
        migrate.upgrade(database.url)
        archive = _start_archive(stack, folder)
        settings = {
            "data_dir": str(folder / "var"),
            "database_url": database.url,
            "redis_url": redis.url,
            "archive_url": archive,
            "archive_requests_per_second": "10000",
            "lease_seconds": str(lease),
            "renew_seconds": str(lease / 4),
            "stall_seconds": str(lease * STALL_LEASES),
            "sweep_seconds": str(lease / 4),
            "window": "1000",
            "max_starts": ENDLESS,
            "max_attempts": ENDLESS,
        }
        ports = stack.enter_context(open_incident(load_settings(**settings)))
        named = {f"{PREFIX}{name.upper()}": value for name, value in settings.items()}
        rig = Rig(folder, lease, ports, archive, named, tell)
        stack.callback(rig.stop_all)
        yield rig


def start_program(
    arguments: Sequence[str], *, log: Path, folder: Path, settings: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Run a program of ours that ends with us; only the given settings reach it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    before = [str(os.getpid()), "-1", "-1", str(int(signal.SIGKILL))]
    with log.open("wb") as out:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", launcher.__file__, *before, sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=folder,
            env={**kept, **settings},
            start_new_session=True,
        )


def _has_started(log: Path) -> bool:
    return b"worker.started" in log.read_bytes()


def _start_archive(stack: ExitStack, folder: Path) -> str:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    log = folder / "archive.log"
    arguments = ["-m", "ppcfetch", "archive", "serve", "--port", str(port)]
    child = start_program(arguments, log=log, folder=folder, settings={})
    stack.callback(child.wait)
    stack.callback(child.kill)
    deadline = time.monotonic() + START_SECONDS
    while b"emulator.ready" not in log.read_bytes():
        if child.poll() is not None or time.monotonic() > deadline:
            raise PpcFetchError(f"the archive's emulator did not start: {log.read_text()[-300:]}")
        time.sleep(POLL_SECONDS)
    return f"http://{HOST}:{port}"
