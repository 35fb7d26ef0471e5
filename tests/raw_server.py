"""A server on a loopback socket that says exactly the bytes it is told to, as slowly as told."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

PAUSE_SECONDS = 0.02
LINGER_NEVER = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class Connection:
    """One accepted connection, as a script sees it."""

    socket: socket.socket
    stopping: threading.Event

    def request(self) -> bytes:
        """Give the next request, headers and body; empty when the client has closed."""
        data = b""
        while b"\r\n\r\n" not in data:
            if not (part := self.socket.recv(65_536)):
                return b""
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += self.socket.recv(65_536)
        return data

    def send(self, data: bytes) -> None:
        """Send at once."""
        self.socket.sendall(data)

    def drip(self, data: bytes) -> None:
        """Send a byte now and then, until all is sent, the client is gone or the test is over."""
        for number in range(len(data)):
            self.send(data[number : number + 1])
            if self.stopping.wait(PAUSE_SECONDS):
                return

    def wait(self) -> None:
        """Say nothing until the test is over."""
        self.stopping.wait()

    def reset(self) -> None:
        """Break the connection instead of closing it."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NEVER)
        self.socket.close()


Script = Callable[[Connection], None]


@dataclass(slots=True)
class RawServer:
    """Runs one script for each connection and counts them."""

    script: Script
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    stopping: threading.Event = field(default_factory=threading.Event)
    accepted: int = 0
    ended: int = 0
    threads: list[threading.Thread] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where it listens, by number."""
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def run(self) -> None:
        """Accept until closed."""
        with suppress(OSError):
            while True:
                accepted, _ = self.listener.accept()
                self.accepted += 1
                thread = threading.Thread(target=self._serve, args=(accepted,))
                self.threads.append(thread)
                thread.start()

    def _serve(self, accepted: socket.socket) -> None:
        with accepted, suppress(OSError):
            self.script(Connection(accepted, self.stopping))
        self.ended += 1


@contextmanager
def serving(script: Script) -> Iterator[RawServer]:
    """Serve a script until the block ends."""
    server = RawServer(script)
    accepting = threading.Thread(target=server.run)
    accepting.start()
    try:
        yield server
    finally:
        server.stopping.set()
        with suppress(OSError):
            server.listener.shutdown(socket.SHUT_RDWR)
        server.listener.close()
        for thread in (accepting, *server.threads):
            thread.join()
