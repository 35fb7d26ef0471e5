"""Small proxies on loopback sockets: HTTP with and without CONNECT, SOCKS 5, and bad ones."""

import socket
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

USER, PASSWORD = "mary", "s3cret-of-mary"
BASIC = b64encode(f"{USER}:{PASSWORD}".encode())
REFUSED = b"HTTP/1.1 407 %b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
TIMEOUT_SECONDS = 20.0


@dataclass(slots=True)
class Proxy:
    """A proxy that counts what came in; `speak` serves one connection.

    `instead` is where plain requests are sent, whatever they ask for: an archive that takes this
    proxy for somebody else.
    """

    speak: Callable[["Proxy", socket.socket], None]
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    instead: tuple[str, int] | None = None
    asked: int = 0
    threads: list[threading.Thread] = field(default_factory=list)
    open: list[socket.socket] = field(default_factory=list)
    name: str = ""

    def __post_init__(self) -> None:
        self.name = f"127.0.0.1:{self.listener.getsockname()[1]}"

    def address(self, scheme: str = "http") -> str:
        return f"{scheme}://{USER}:{PASSWORD}@{self.name}"

    def run(self) -> None:
        with suppress(OSError):
            while True:
                accepted, _ = self.listener.accept()
                accepted.settimeout(TIMEOUT_SECONDS)
                self.open.append(accepted)
                thread = threading.Thread(target=self._serve, args=(accepted,))
                self.threads.append(thread)
                thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            self.speak(self, client)

    def stop(self) -> None:
        for one in (self.listener, *self.open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextmanager
def running(*speaks: Callable[[Proxy, socket.socket], None]) -> Iterator[list[Proxy]]:
    """Run proxies until the block ends."""
    with ExitStack() as stack:
        proxies = [Proxy(speak) for speak in speaks]
        threads = [threading.Thread(target=proxy.run) for proxy in proxies]
        for proxy, thread in zip(proxies, threads, strict=True):
            thread.start()
            stack.callback(thread.join)
            stack.callback(proxy.stop)
        yield proxies
        for proxy in proxies:
            proxy.stop()
            for thread in proxy.threads:
                thread.join()


def forward(proxy: Proxy, client: socket.socket) -> None:
    """Pass plain requests on, or make a tunnel for CONNECT."""
    while head := _head(client):
        proxy.asked += 1
        if BASIC not in head:
            client.sendall(REFUSED % b"Who are you")
            return
        method, target, _ = head.split(b" ", 2)
        if method == b"CONNECT":
            host, _, port = target.decode().rpartition(":")
            with socket.create_connection((host, int(port)), TIMEOUT_SECONDS) as far:
                client.sendall(b"HTTP/1.1 200 Go on\r\n\r\n")
                _tunnel(client, far)
            return
        _pass_on(proxy, client, head, target.decode())


def refuse(proxy: Proxy, client: socket.socket) -> None:
    """Answer 407, and repeat to everybody who it was that asked."""
    _head(client)
    proxy.asked += 1
    client.sendall(REFUSED % f"not {USER}:{PASSWORD}".encode())


def socks(proxy: Proxy, client: socket.socket) -> None:
    """Speak SOCKS 5 with user and password."""
    if client.recv(3) != b"\x05\x01\x02":
        client.sendall(b"\x05\xff")
        return
    client.sendall(b"\x05\x02")
    wanted = bytes([1, len(USER)]) + USER.encode() + bytes([len(PASSWORD)]) + PASSWORD.encode()
    if client.recv(len(wanted)) != wanted:
        client.sendall(b"\x01\x01")
        return
    client.sendall(b"\x01\x00")
    length = client.recv(5)[4]
    host, port = client.recv(length).decode(), int.from_bytes(client.recv(2), "big")
    with socket.create_connection((host, port), TIMEOUT_SECONDS) as far:
        client.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
        proxy.asked += 1
        _tunnel(client, far)


def hang_up(proxy: Proxy, client: socket.socket) -> None:
    """Read, say nothing, close."""
    client.recv(4096)
    proxy.asked += 1


def babble(proxy: Proxy, client: socket.socket) -> None:
    """Say something else than was asked."""
    client.recv(4096)
    proxy.asked += 1
    client.sendall(b"HTTP/1.1 400 What\r\n\r\n")


def _head(client: socket.socket) -> bytes:
    """Give the request's head, empty when the client has closed."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        if not (part := client.recv(1)):
            return b""
        data += part
    return data


def _pass_on(proxy: Proxy, client: socket.socket, head: bytes, target: str) -> None:
    parts = urlsplit(target)
    lines = [line for line in head.split(b"\r\n")[1:-2] if not line.lower().startswith(b"proxy-")]
    length = next(
        int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length")
    )
    body = b""
    while len(body) < length:
        body += client.recv(length - len(body))
    first = f"POST {parts.path}?{parts.query} HTTP/1.1".encode()
    extra = [b"Connection: close"]
    place = proxy.instead or (parts.hostname, parts.port)
    with socket.create_connection(place, TIMEOUT_SECONDS) as far:
        far.sendall(b"\r\n".join([first, *lines, *extra, b"", body]))
        while part := far.recv(65_536):
            client.sendall(part)
    client.shutdown(socket.SHUT_WR)


def _tunnel(client: socket.socket, far: socket.socket) -> None:
    back = threading.Thread(target=_copy, args=(far, client))
    back.start()
    _copy(client, far)
    back.join()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(65_536):
            sink.sendall(part)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
