"""What the suites for embedded servers share: the kinds, a foreign owner, a look at processes."""

import os
import re
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
from redis import Redis
from redis.exceptions import AuthenticationError

from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from ppcfetch.adapters.embedded.server import EmbeddedServer
from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from ppcfetch.adapters.embedded.wheels import postgres_wheel
from tests.servers import DEBIAN_REDIS, libpq, require, short_folder

ROOT = Path(__file__).parents[2]

_OWNER = """
import sys
from pathlib import Path
from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
kind = {"postgres": EmbeddedPostgres, "valkey": EmbeddedValkey}[sys.argv[1]]
with kind(Path(sys.argv[2])) as server:
    print(server.pid, server.url, flush=True)
    sys.stdin.read()
"""


class Kind(ABC):
    """One kind of server, as a client sees it."""

    name: str

    @abstractmethod
    def make(self, folder: Path, *, port: int | None = None) -> EmbeddedServer: ...

    @abstractmethod
    def put(self, url: str, value: str) -> None: ...

    @abstractmethod
    def get(self, url: str) -> str: ...

    @abstractmethod
    def refuses(self, url: str) -> bool: ...


class Postgres(Kind):
    name = "postgres"

    def make(self, folder: Path, *, port: int | None = None) -> EmbeddedServer:
        return EmbeddedPostgres(folder, port=port, durable=False)

    def put(self, url: str, value: str) -> None:
        with psycopg.connect(libpq(url)) as connection:
            connection.execute("CREATE TABLE kept AS SELECT %s::text AS value", (value,))

    def get(self, url: str) -> str:
        with psycopg.connect(libpq(url)) as connection:
            row = connection.execute("SELECT value FROM kept").fetchone()
        assert row is not None
        return str(row[0])

    def refuses(self, url: str) -> bool:
        try:
            psycopg.connect(libpq(url)).close()
        except psycopg.OperationalError as exc:
            return "authentication failed" in str(exc) or "no password supplied" in str(exc)
        return False


class Valkey(Kind):
    name = "valkey"

    def make(self, folder: Path, *, port: int | None = None) -> EmbeddedServer:
        return EmbeddedValkey(folder, port=port)

    def put(self, url: str, value: str) -> None:
        with Redis.from_url(url) as client:
            client.set("kept", value)

    def get(self, url: str) -> str:
        with Redis.from_url(url, decode_responses=True) as client:
            return str(client.get("kept"))

    def refuses(self, url: str) -> bool:
        try:
            with Redis.from_url(url) as client:
                client.ping()
        except AuthenticationError:
            return True
        return False


class DebianRedis(Valkey):
    name = "debian-redis"

    def make(self, folder: Path, *, port: int | None = None) -> EmbeddedServer:
        require("Debian's redis-server", found=DEBIAN_REDIS.is_file())
        return EmbeddedValkey(folder, port=port, binary=DEBIAN_REDIS)


def password_in(url: str) -> str:
    """The password that the address carries."""
    found = re.search(r":([^:@/]+)@", url)
    assert found is not None
    return found[1]


@contextmanager
def playground() -> Iterator[Path]:
    """A folder that every user may pass through; what a failed test left running in it is ended."""
    with short_folder() as folder:
        try:
            yield folder
        finally:
            for pid in processes_in(folder):
                psutil.Process(pid).kill()


@contextmanager
def foreign_owner(
    kind: str,
    folder: Path,
    *,
    user: int | None = None,
    python: Path | None = None,
    packages: Sequence[Path] = (),
) -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    """Another process that owns a server in the folder; its handle, the server's id and address."""
    process = subprocess.Popen(
        [python or sys.executable, "-c", _OWNER, kind, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={
            "PYTHONPATH": os.pathsep.join(map(str, (*packages, postgres_wheel()))),
            "PATH": os.defpath,
        },
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        pid, _, url = process.stdout.readline().strip().partition(" ")
        assert pid, "the other owner did not start; its error is printed above"
        yield process, int(pid), url


def processes_in(*folders: Path) -> list[int]:
    """Living processes that work in one of the folders or below it."""
    return [
        process.pid
        for process in psutil.process_iter(["cwd", "status"])
        if process.info["cwd"] is not None
        and process.info["status"] != psutil.STATUS_ZOMBIE
        and any(Path(process.info["cwd"]).is_relative_to(folder) for folder in folders)
    ]
