"""One wire between a worker and a server, and what can happen to it."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

CHUNK = 65536
ANSWERS = "answers"
REQUESTS = "requests"
MODES = ("slow", "cut", "half-open", "one-way", "armed")


@dataclass
class Wire:
    """What passes one way along one connection; it is alone in using its thread."""

    source: socket.socket
    target: socket.socket
    way: str

    def hang_up(self) -> None:
        """End both directions for both sides."""
        for end in (self.source, self.target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Link:
    """Listens in place of a server and passes on what it may.

    Shape: `slow` delays each piece, `cut` hangs up after so many more bytes, `half-open` keeps
    connections and passes nothing, `one-way` passes requests and no answers; `armed` passes all
    until a request is larger than so many bytes, which is kept: from then on it is half-open.
    """

    def __init__(self, listener: socket.socket, dial: Callable[[], socket.socket]) -> None:
        self._listener = listener
        self._dial = dial
        self._changed = threading.Condition()
        self._mode = ""
        self._amount = 0.0
        self._drops = 0
        self._closed = threading.Event()
        self._wires: list[Wire] = []
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        listener.listen()
        self._threads[0].start()

    def spoil(self, mode: str, amount: float) -> None:
        """Begin a fault; amount is the seconds of `slow` or the bytes before a `cut`."""
        with self._changed:
            self._mode, self._amount = mode, amount

    def heal(self, *, drop: bool) -> None:
        """End the fault; what was kept back is passed on, or hung up on with drop."""
        with self._changed:
            self._mode = ""
            self._drops += drop
            self._changed.notify_all()

    def close(self) -> None:
        """Hang up on everybody, listen no more and wait for the threads."""
        self._closed.set()
        self.heal(drop=True)
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for wire in self._wires:
            wire.hang_up()
        for thread in self._threads:
            thread.join(5)
        for wire in self._wires:
            wire.source.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while not self._closed.is_set():
                client, _ = self._listener.accept()
                try:
                    server = self._dial()
                except OSError:
                    client.close()
                    continue
                for wire in (Wire(client, server, REQUESTS), Wire(server, client, ANSWERS)):
                    self._wires.append(wire)
                    thread = threading.Thread(target=self._pump, args=[wire], daemon=True)
                    self._threads.append(thread)
                    thread.start()

    def _pump(self, wire: Wire) -> None:
        with suppress(OSError):
            while (data := wire.source.recv(CHUNK)) and self._may_pass(wire, len(data)):
                wire.target.sendall(data)
        wire.hang_up()

    def _may_pass(self, wire: Wire, size: int) -> bool:
        with self._changed:
            if self._mode == "armed" and wire.way == REQUESTS and size > self._amount:
                self._mode = "half-open"
            mode, amount, drops = self._mode, self._amount, self._drops
            if mode == "cut":
                self._amount -= size
                return self._amount > 0
            if mode == "half-open" or (mode == "one-way" and wire.way == ANSWERS):
                self._changed.wait_for(lambda: self._mode != mode)
                return self._drops == drops
        if mode == "slow":
            self._closed.wait(amount)
        return True


def unix_listener(path: str) -> socket.socket:
    """Give a socket that listens at a path."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    return listener


def tcp_listener() -> socket.socket:
    """Give a socket that listens on a free port of loopback."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    return listener


def dial_unix(path: str) -> Callable[[], socket.socket]:
    """Give what connects to the path."""

    def dial() -> socket.socket:
        end = socket.socket(socket.AF_UNIX)
        try:
            end.connect(path)
        except OSError:
            end.close()
            raise
        return end

    return dial


def dial_tcp(port: int) -> Callable[[], socket.socket]:
    """Give what connects to the port of loopback."""

    def dial() -> socket.socket:
        end = socket.create_connection(("127.0.0.1", port), timeout=5)
        end.settimeout(None)
        return end

    return dial
