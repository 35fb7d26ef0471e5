"""Real servers for tests: databases made cheaply, servers healed after a test that broke them."""

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path

import psycopg
import pytest
from redis import Redis

from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from ppcfetch.adapters.embedded.server import EmbeddedServer
from tests.waiting import wait_until

DEBIAN_REDIS = Path("/usr/bin/redis-server")
TEMPLATE = "migrated"


def require(what: str, *, found: object) -> None:
    """Go on when it was found; else fail where everything has to be there, and skip elsewhere."""
    if found:
        return
    if os.environ.get("REQUIRE_ALL") == "1":
        pytest.fail(f"{what} is missing, and REQUIRE_ALL=1 says that it must be here")
    pytest.skip(f"{what} is not installed here; the other tests do not need it")


def migrate(url: str) -> None:
    """Bring an empty database to the newest schema; the one place where tests name migrations."""
    import_module("ppcfetch.adapters.database.migrate").upgrade(url)


def libpq(url: str) -> str:
    """The same address as the driver alone reads it."""
    return url.replace("postgresql+psycopg://", "postgresql://", 1)


def free_port() -> int:
    """A TCP port on loopback that nobody had a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def short_folder() -> Iterator[Path]:
    """A temporary folder that a server's own user may pass through, as pytest's own is not."""
    folder = Path(tempfile.mkdtemp(prefix="ppcfetch-test-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        for record in folder.rglob("socket"):  # of servers whose owner was killed
            shutil.rmtree(record.read_text(), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def heal(server: EmbeddedServer) -> None:
    """Have the server answering again, whether the last test killed, suspended or stopped it."""

    def answers() -> bool:
        if server.alive():
            os.kill(server.pid, signal.SIGCONT)
        else:
            server.start()
        return server.answers()

    # A killed server is alive for a moment: only an answer tells.
    wait_until(answers, describe=f"{server.name} answers again", timeout=60)


def flush(url: str) -> None:
    """Empty a Redis or Valkey, and undo what tests set at run time."""
    with Redis.from_url(url) as client:
        client.flushall()
        client.config_set("maxmemory", 0)
        client.config_set("maxmemory-policy", "noeviction")


class Databases:
    """Makes and drops databases on one server; copies of a migrated one cost milliseconds."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        self.server = server
        self._numbers = count(1)
        self._migrated = False

    def empty(self) -> str:
        """The address of a new database without tables."""
        return self._create(f"test_{next(self._numbers)}", template="template0")

    def migrated(self) -> str:
        """The address of a new database with the newest schema and no rows."""
        if not self._migrated:
            self.drop(self.url(TEMPLATE))
            migrate(self._create(TEMPLATE, template="template0"))
            self._migrated = True
        return self._create(f"test_{next(self._numbers)}", template=TEMPLATE)

    def copy_of(self, url: str) -> str:
        """The address of a copy of a database that nobody is connected to."""
        return self._create(f"test_{next(self._numbers)}", template=_name_in(url))

    def drop(self, url: str) -> None:
        """Remove the database, also from under connections that a test left open."""
        self._run(f'DROP DATABASE IF EXISTS "{_name_in(url)}" WITH (FORCE)')

    def url(self, name: str) -> str:
        """The address of a database of this server."""
        return self.server.url.replace("@/postgres?", f"@/{name}?")

    def _create(self, name: str, *, template: str) -> str:
        heal(self.server)
        self._run(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url(name)

    def _run(self, statement: str) -> None:
        with psycopg.connect(libpq(self.server.url), autocommit=True) as connection:
            connection.execute(statement.encode())


def _name_in(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]
