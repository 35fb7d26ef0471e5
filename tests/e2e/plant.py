"""The whole product as processes, for tests that kill, stop and starve them.

Servers belong to the test process; emulator, site and workers are programs of their own, told
about the servers by their settings alone.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
from redis import Redis

from tests.e2e.loopback import ask
from tests.e2e.nursery import Born, Nursery
from tests.e2e.visitor import Visitor
from tests.servers import free_port, libpq
from tests.waiting import wait_until

LEASE_SECONDS = 2.0
SECRET = "only-for-tests-" + "x" * 32

STORED = """
SELECT a.advertiser_id AS advertiser, a.creative_id AS creative, v.name,
    CASE a.format WHEN 1 THEN 'text' WHEN 2 THEN 'image' WHEN 3 THEN 'video' END AS format,
    to_char(a.first_shown AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS first_shown,
    to_char(a.last_shown AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS last_shown
FROM ads a JOIN advertisers v USING (advertiser_id)
WHERE a.domain = %s
"""


@dataclass(eq=False)
class Process:
    """One program of ours and its log."""

    name: str
    popen: subprocess.Popen[bytes] | Born
    log: Path

    def kill(self) -> None:
        """End it as a crash of the machine would."""
        self.signal(signal.SIGKILL)
        self.popen.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        if self.popen.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.popen.pid, number)

    def wait(self, seconds: float = 30) -> int:
        """Give its exit code when it ends by itself."""
        return self.popen.wait(seconds)

    def events(self, *names: str) -> list[dict[str, Any]]:
        """Give its log events of these names, in order; of all names when none is given."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{")]
        return [e for e in events if not names or e.get("event") in names]


@dataclass
class Plant:
    """Where everything is, and what was started."""

    folder: Path
    database: str
    redis: str
    settings: dict[str, str] = field(default_factory=dict)
    processes: list[Process] = field(default_factory=list)
    visitors: list[Visitor] = field(default_factory=list)
    archive: str = ""
    site: str = ""
    nursery: Nursery | None = None

    def environment(self) -> dict[str, str]:
        """Give the environment of every program."""
        ours = {
            "PPCFETCH_DATA_DIR": str(self.folder / "var"),
            "PPCFETCH_DATABASE_URL": self.database,
            "PPCFETCH_REDIS_URL": self.redis,
            "PPCFETCH_ARCHIVE_URL": self.archive,
            "PPCFETCH_ARCHIVE_REQUESTS_PER_SECOND": "10000",
            "PPCFETCH_SECRET_KEY": SECRET,
            "PPCFETCH_LEASE_SECONDS": str(LEASE_SECONDS),
            "PPCFETCH_SWEEP_SECONDS": "0.5",
            "PPCFETCH_INTERACTIVE_PAGES": "100000",
            "PPCFETCH_INTERACTIVE_SECONDS": "3600",
            **self.settings,
        }
        kept = {n: v for n, v in os.environ.items() if not n.startswith("PPCFETCH_")}
        return {**kept, **{name: value for name, value in ours.items() if value}}

    def start(self, name: str, *arguments: str, **settings: str) -> Process:
        """Start a program of ours; settings are for it alone."""
        log = self.folder / f"{name}-{len(self.processes)}.log"
        environment = {**self.environment(), **settings}
        if self.nursery and arguments[:3] == ("-m", "ppcfetch", "worker"):
            log.touch()
            wanted = arguments[2:]
            born = self.nursery.start(wanted, environment=environment, folder=self.folder, log=log)
            process = Process(name, born, log)
        else:
            process = Process(name, self._popen(arguments, environment, log), log)
        self.processes.append(process)
        return process

    def _popen(
        self, arguments: Sequence[str], environment: dict[str, str], log: Path
    ) -> "subprocess.Popen[bytes]":
        with log.open("wb") as out:
            return subprocess.Popen(
                [sys.executable, *arguments],
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )

    def start_archive(self) -> Process:
        """Start the emulator, and let what starts later ask it."""
        port = free_port()
        process = self.command("archive", "serve", "--port", str(port))
        self.archive = f"http://127.0.0.1:{port}"
        self._wait_for(process, f"{self.archive}/_emulator/healthz")
        return process

    def start_site(self, **settings: str) -> Process:
        """Start the site under gunicorn."""
        port = free_port()
        process = self.command("web", "--port", str(port), "--processes", "1", **settings)
        self.site = f"http://127.0.0.1:{port}"
        self._wait_for(process, f"{self.site}/livez")
        return process

    def start_worker(
        self, pool: str = "interactive", *, threads: int = 2, **settings: str
    ) -> Process:
        """Start a worker and wait until it looks for work."""
        arguments = ("worker", "--pool", pool, "--threads", str(threads))
        process = self.command(*arguments, **settings)
        wait_until(
            lambda: process.events("worker.started") or process.popen.poll() is not None,
            describe=f"the {pool} worker has started; see {process.log}",
            timeout=30,
        )
        assert process.popen.poll() is None, process.log.read_text()
        return process

    def command(self, *arguments: str, **settings: str) -> Process:
        """Start one of our commands."""
        return self.start("-".join(arguments[:2]), "-m", "ppcfetch", *arguments, **settings)

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run one of our commands to its end; gives its exit code and all that it printed."""
        process = self.command(*arguments)
        code = process.wait(60)
        return code, process.log.read_text(encoding="utf-8")

    def behave(self, **behaviour: object) -> None:
        """Make the archive behave in a way until told otherwise."""
        address = f"{self.archive}/_emulator/behaviour"
        ask(address, method="PUT", json=behaviour).raise_for_status()

    def requests(self, **wanted: str) -> dict[str, Any]:
        """Give what the archive was asked; `domain=…` for one alone."""
        asked = ask(f"{self.archive}/_emulator/requests", params=wanted)
        answer: dict[str, Any] = asked.json()
        return answer

    def truth(self, domain: str) -> dict[str, dict[str, Any]]:
        """Give the archive's own ads of a domain by creative id."""
        answer = ask(f"{self.archive}/_emulator/truth/{domain}", timeout=60)
        return {ad["creative"]: ad for ad in map(json.loads, answer.text.splitlines())}

    def stored(self, domain: str) -> dict[str, dict[str, Any]]:
        """Give the stored ads of a domain in the form of the truth."""
        return {row["creative"]: row for row in self.query(STORED, domain)}

    def query(self, statement: str, *values: object) -> Sequence[dict[str, Any]]:
        """Read rows from the database."""
        with (
            psycopg.connect(libpq(self.database), row_factory=psycopg.rows.dict_row) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(statement.encode(), values)
            return cursor.fetchall()

    def one(self, statement: str, *values: object) -> Any:
        """Read one value from the database."""
        (row,) = self.query(statement, *values)
        (value,) = row.values()
        return value

    def messages(self) -> int:
        """Count the messages of both pools."""
        with Redis.from_url(self.redis) as client:
            return sum(int(client.xlen(f"{{ppcfetch}}:{pool}")) for pool in ("interactive", "bulk"))

    def pages(self, domain: str) -> int:
        """Give how many pages the newest fetch of a domain has stored."""
        rows = self.query(
            "SELECT pages FROM fetches WHERE domain = %s ORDER BY id DESC LIMIT 1", domain
        )
        return int(rows[0]["pages"]) if rows else 0

    def wait_for_pages(self, domain: str, pages: int) -> None:
        """Wait until the newest fetch has stored so many pages."""
        wait_until(
            lambda: self.pages(domain) >= pages,
            describe=f"{pages} pages of {domain} are stored",
            timeout=60,
        )

    def wait_for_end(self, domain: str, state: str = "done") -> dict[str, Any]:
        """Wait until the newest fetch of a domain has ended, and give its row."""
        statement = "SELECT * FROM fetches WHERE domain = %s ORDER BY id DESC LIMIT 1"

        def ended() -> dict[str, Any] | None:
            rows = self.query(statement, domain)
            return rows[0] if rows and rows[0]["state"] != "active" else None

        fetch = wait_until(ended, describe=f"the fetch of {domain} has ended", timeout=90)
        assert fetch is not None
        assert fetch["state"] == state, fetch
        return fetch

    def visitor(self, email: str = "ann@mail.example") -> Visitor:
        """Start the site if need be, and give somebody who has just registered."""
        if not self.site:
            self.start_site()
        visitor = Visitor(self.site)
        self.visitors.append(visitor)
        visitor.register(email)
        return visitor

    def holder_and_other(self, *workers: Process) -> tuple[Process, Process]:
        """Give the one of two workers that took the only lease so far, and the other one."""
        wait_until(
            lambda: any(worker.events("lease.taken") for worker in workers),
            describe="one of the workers has the job",
            timeout=30,
        )
        first, second = workers
        return (first, second) if first.events("lease.taken") else (second, first)

    def stop(self) -> None:
        """Close every browser, and stop every program by its process id."""
        for visitor in self.visitors:
            visitor.close()
        for process in reversed(self.processes):
            process.signal(signal.SIGCONT)
            process.signal(signal.SIGTERM)
        for process in reversed(self.processes):
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()

    def _wait_for(self, process: Process, address: str) -> None:
        def answers() -> bool:
            assert process.popen.poll() is None, process.log.read_text()
            with suppress(httpx.HTTPError):
                return ask(address, timeout=2).is_success
            return False

        wait_until(answers, describe=f"{process.name} answers; see {process.log}", timeout=60)


def assert_truth(plant: Plant, domain: str) -> None:
    """Compare every field of every ad with the archive's truth, in both directions.

    A name belongs to its advertiser: the archive leaves it out of some rows.
    """
    truth, stored = plant.truth(domain), plant.stored(domain)
    names = {ad["advertiser"]: ad["name"] for ad in truth.values() if ad["name"]}
    for ad in truth.values():
        ad["name"] = names.get(ad["advertiser"])
    assert stored.keys() - truth.keys() == set()
    assert truth.keys() - stored.keys() == set()
    differences = [
        (stored[creative], {name: ad[name] for name in stored[creative]})
        for creative, ad in truth.items()
        if any(stored[creative][name] != ad[name] for name in stored[creative])
    ]
    assert differences == [], f"{len(differences)} of {len(truth)} ads differ: {differences[:3]}"
