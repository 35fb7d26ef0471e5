"""A Unix socket between a client and PostgreSQL that can swallow an answer and hang up."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_SOCKET = ".s.PGSQL.5432"
_CHUNK = 65536


class CuttingProxy:
    """Passes everything on, until a statement is named whose answer must not arrive."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.folder = folder
        self._server = server
        self._armed: bytes | None = None
        self._ends: list[socket.socket] = []
        self._pumps: list[threading.Thread] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / _SOCKET))
        self._listener.listen()

    def lose_answer_to(self, statement: bytes) -> None:
        """Let the next message that holds these bytes reach the server, but no answer come back."""
        self._armed = statement

    def serve(self) -> None:
        """Accept connections until closed, each in threads of its own."""
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._server / _SOCKET))
                self._ends += [client, server]
                for ends in ((client, server), (server, client)):
                    self._pumps.append(threading.Thread(target=self._pump, args=ends))
                    self._pumps[-1].start()

    def close(self) -> None:
        """Hang up on everybody."""
        for end in [self._listener, *self._ends]:
            _hang_up(end)
        for pump in self._pumps:
            pump.join()
        for end in [self._listener, *self._ends]:
            end.close()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                if self._armed is not None and self._armed in data:
                    self._armed = None
                    self._cut(source, target, data)
                    return
                target.sendall(data)
        _hang_up(source)
        _hang_up(target)

    @staticmethod
    def _cut(client: socket.socket, server: socket.socket, data: bytes) -> None:
        # Nobody can read the client's half any more, so the server's answer goes nowhere.
        client.shutdown(socket.SHUT_WR)
        server.sendall(data)
        server.shutdown(socket.SHUT_WR)


def _hang_up(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


@contextmanager
def cutting_proxy(folder: Path, server: Path) -> Iterator[CuttingProxy]:
    """Run a proxy in the folder to the server whose socket is in the other."""
    proxy = CuttingProxy(folder, server)
    accepting = threading.Thread(target=proxy.serve)
    accepting.start()
    try:
        yield proxy
    finally:
        proxy.close()
        accepting.join()
