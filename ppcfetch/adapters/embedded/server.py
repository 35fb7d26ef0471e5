"""The life of an embedded server, the same for each kind: start, watch, stop, start again."""

import contextlib
import os
import shutil
import subprocess
import time
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from ppcfetch.adapters.embedded import folder as files
from ppcfetch.adapters.embedded.process import Launch, clear, end, spawn
from ppcfetch.errors import ConfigurationError

_POLL_SECONDS = 0.02
_READY_SECONDS = 120.0  # after a crash a server first replays its log
_LOG_LINE = 300


class EmbeddedServer(ABC):
    """One server over one folder, owned by this process and ending with it.

    Start it from a thread that lives as long as the server should (see ``process.spawn``). After
    ``start`` the owner may look at ``alive`` and call ``start`` again: same data, same address.
    Raises: ConfigurationError, from ``start``, for everything that keeps the server from running;
    it names the folder or file and what to do.
    """

    name: ClassVar[str]

    def __init__(self, folder: Path, *, port: int | None = None) -> None:
        """Without a port the server listens on a private socket only, else on loopback, too."""
        self.folder = folder.resolve()
        self._port = port
        self._locks: dict[Path, int] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._launch: Launch | None = None
        self._socket: Path | None = None
        self._password = ""

    def start(self) -> None:
        """Have the server running and answering; nothing happens when it already is."""
        if self.alive():
            return
        with contextlib.ExitStack() as undo:
            undo.callback(self.stop)
            try:
                self._launch = self._prepare()
                clear(self._launch)
                self._run(self._launch)
            except OSError as exc:
                raise ConfigurationError(
                    f"{self.name} cannot use {exc.filename or self.folder}: {exc.strerror}; "
                    "check its owner and mode, or choose another PPCFETCH_DATA_DIR"
                ) from exc
            undo.pop_all()

    def stop(self) -> None:
        """End the server and give the folder free; nothing happens when it is not running."""
        if self._process is not None and self._launch is not None:
            end(self._process, self._launch)
            clear(self._launch)
        self._process = None
        # Without the lock the folder and the sockets are a successor's.
        if self._locks and self._socket is not None:
            files.remove_socket_folder(self._socket)
        for lock in self._locks.values():
            os.close(lock)
        self._locks.clear()

    def destroy(self) -> None:
        """Stop, and delete all data for good."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def alive(self) -> bool:
        """Whether the process exists; a suspended or a starting one does."""
        return self._process is not None and self._process.poll() is None

    def answers(self) -> bool:
        """Whether it takes requests now; a suspended or a dying one is alive and does not."""
        return self._process is not None and self.alive() and self._ready(self._process.pid)

    @property
    def pid(self) -> int:
        """The server's process id, also after it has died."""
        if self._process is None:
            raise ConfigurationError(f"{self.name} in {self.folder} has not been started")
        return self._process.pid

    @property
    def url(self) -> str:
        """The address with the password in it; it stays the same when the server restarts."""
        if self._socket is None:
            raise ConfigurationError(f"{self.name} in {self.folder} has not been started")
        return self._address(self._socket)

    @property
    def log(self) -> Path:
        """The file that the server writes its messages to."""
        return self.folder / "server.log"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @abstractmethod
    def _prepare(self) -> Launch:
        """Make the folder fit for use and say what to run."""

    @abstractmethod
    def _ready(self, pid: int) -> bool:
        """Whether the server with this process id takes requests now."""

    @abstractmethod
    def _address(self, socket: Path) -> str:
        """The address for clients."""

    def _claim(self, folder: Path) -> None:
        if folder not in self._locks:
            self._locks[folder] = files.lock(folder)

    def _run(self, launch: Launch) -> None:
        log = files.open_log(self.log)
        try:
            self._process = spawn(launch, log=log)
        finally:
            os.close(log)
        deadline = time.monotonic() + _READY_SECONDS
        while not self._ready(self._process.pid):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_POLL_SECONDS)
                raise ConfigurationError(f"{self.name} did not start: {self._last_words()}")
            if time.monotonic() > deadline:
                raise ConfigurationError(
                    f"{self.name} is not ready after {_READY_SECONDS:.0f} s: see {self.log}"
                )

    def _last_words(self) -> str:
        lines = self.log.read_bytes()[-4096:].decode(errors="replace").strip().splitlines()
        return f"{lines[-1][:_LOG_LINE] if lines else 'it said nothing'} (see {self.log})"
