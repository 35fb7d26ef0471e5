"""All parts of `ppcfetch up`, in the order in which they need each other."""

import socket
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import structlog

from ppcfetch.adapters import logs
from ppcfetch.adapters.database import migrate
from ppcfetch.adapters.embedded import folder as files
from ppcfetch.adapters.embedded import running
from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from ppcfetch.adapters.embedded.running import Addresses
from ppcfetch.adapters.embedded.server import EmbeddedServer
from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from ppcfetch.bootstrap.addresses import ensure_secret_key
from ppcfetch.errors import ConfigurationError
from ppcfetch.model.job import Pool
from ppcfetch.settings import Settings
from workers.supervisor import Program, Supervisor

READY_SECONDS = 90.0
POLL_SECONDS = 0.1
EMULATOR_HOST = "127.0.0.1"


class Together:
    """Everything embedded that the settings do not replace; use it as a context manager."""

    def __init__(
        self, settings: Settings, supervisor: Supervisor, *, tell: Callable[[str], None]
    ) -> None:
        """Prepare; nothing is started before the context is entered."""
        self._settings = settings
        self._supervisor = supervisor
        self._tell = tell
        self._servers: list[EmbeddedServer] = []
        self._folder = settings.data_dir.absolute()
        self._stack = ExitStack()

    def start(self) -> Addresses:
        """Start servers, emulator, site and workers; gives where the servers are.

        Raises: ConfigurationError naming what is in the way. Call `stop` whatever happened.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        files.lock(self._folder)
        self._configure_logs()
        check_port_is_free(self._settings.host, self._settings.port)
        addresses = self._start_servers()
        self._tell("Bringing the schema to the newest revision …")
        migrate.upgrade(addresses.database)
        ensure_secret_key(self._folder)
        running.announce(self._folder, addresses)
        self._stack.callback(running.withdraw, self._folder)
        if addresses.emulated:
            self._start_emulator(addresses.archive)
        self._run("web", "web")
        for pool in Pool:
            self._run(f"worker-{pool}", "worker", "--pool", str(pool))
        return addresses

    def stop(self) -> None:
        """Stop everything in the opposite order."""
        self._supervisor.stop()
        self._stack.close()

    def look_after_servers(self) -> None:
        """Start an embedded server again when it has died; its data and address stay."""
        for server in self._servers:
            if not server.alive():
                structlog.get_logger().warning("server.died", name=server.name)
                self._tell(f"{server.name} has died; starting it again")
                server.start()

    def wait_until_ready(self) -> None:
        """Return when the site says that it is ready. Raises: ConfigurationError."""
        deadline = time.monotonic() + READY_SECONDS
        while not self._supervisor.stopping.wait(POLL_SECONDS):
            if _is_ready(self._settings):
                return
            self._supervisor.look()
            if time.monotonic() > deadline:
                message = f"the site is not ready after {READY_SECONDS:.0f} s: see {self._logs}"
                raise ConfigurationError(message)

    def _configure_logs(self) -> None:
        """Send our own events to a file: the terminal is for people."""
        self._logs.mkdir(exist_ok=True)
        log = self._stack.enter_context((self._logs / "up.log").open("a", encoding="utf-8"))
        logs.configure(stream=log, process="up")

    @property
    def _logs(self) -> Path:
        return self._folder / "logs"

    def _start_servers(self) -> Addresses:
        settings = self._settings
        database = settings.database_url.get_secret_value() if settings.database_url else None
        redis = settings.redis_url.get_secret_value() if settings.redis_url else None
        if database is None:
            self._tell("Starting PostgreSQL …")
            database = self._serve(EmbeddedPostgres(self._folder / "postgres"))
        if redis is None:
            self._tell("Starting Valkey …")
            redis = self._serve(EmbeddedValkey(self._folder / "valkey"))
        emulated = settings.archive_url is None
        archive = settings.archive_url or f"http://{EMULATOR_HOST}:{_free_port()}"
        return Addresses(database=database, redis=redis, archive=archive, emulated=emulated)

    def _serve(self, server: EmbeddedServer) -> str:
        self._stack.callback(server.stop)
        server.start()
        self._servers.append(server)
        return server.url

    def _start_emulator(self, address: str) -> None:
        port = address.rpartition(":")[2]
        self._program("archive", "-m", "ppcfetch", "archive", "serve", "--port", port)

    def _run(self, name: str, *arguments: str) -> None:
        self._program(name, "-m", "ppcfetch", *arguments)

    def _program(self, name: str, *arguments: str) -> None:
        self._supervisor.start(
            Program(
                name=name,
                command=[sys.executable, *arguments],
                settings={
                    "PPCFETCH_DATA_DIR": str(self._folder),
                    "PPCFETCH_HOST": self._settings.host,
                    "PPCFETCH_PORT": str(self._settings.port),
                },
                log=self._logs / f"{name}.log",
            )
        )


def check_port_is_free(host: str, port: int) -> None:
    """Return when the site can listen there. Raises: ConfigurationError naming the setting."""
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as exc:
        raise ConfigurationError(
            f"PPCFETCH_HOST: {host} is not an address of this machine"
        ) from exc
    family, kind, protocol, _, address = infos[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as exc:
            message = (
                f"PPCFETCH_PORT: {host}:{port} cannot be used ({exc.strerror}); another program"
                " may be listening there: stop it, or choose another port, such as"
                f" PPCFETCH_PORT={port + 1}"
            )
            raise ConfigurationError(message) from exc


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((EMULATOR_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _is_ready(settings: Settings) -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 - compared, not bound
    connection = HTTPConnection(host, settings.port, timeout=5)  # it waits 2 s itself
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200  # noqa: PLR2004 - HTTP's own number
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
