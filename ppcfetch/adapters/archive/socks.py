"""Connections through a SOCKS 5 proxy, which looks the archive's name up by itself.

Source: RFC 1928 and RFC 1929. The HTTP library's own way through such a proxy has no deadline,
leaves sockets open when it is refused, and can write the password to a log.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import httpcore

from ppcfetch.adapters.archive.network import InstantBackend, SocketOptions
from ppcfetch.model.egress import Proxy

VERSION = 5
NO_CREDENTIALS, USER_AND_PASSWORD = 0, 2
CONNECT = 1
IPV4, NAME, IPV6 = 1, 3, 4
REFUSALS = {
    1: "it failed",
    2: "its rules forbid it",
    3: "the network cannot be reached",
    4: "the host cannot be reached",
    5: "the connection was refused",
    6: "it took too long",
}


class SocksBackend(httpcore.NetworkBackend):
    """Connects to any host by asking one proxy to do so."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._inner = InstantBackend()

    def connect_tcp(  # noqa: PLR0917 - httpcore's own signature
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: SocketOptions = None,
    ) -> httpcore.NetworkStream:
        """Give a connection that leads to the host. Raises: httpcore.ProxyError."""
        proxy = self._proxy
        stream = self._inner.connect_tcp(
            proxy.host, proxy.port, timeout, local_address, socket_options
        )
        with _closed_unless_good(stream):
            talk = _Talk(stream, timeout)
            talk.greet(proxy.credentials)
            talk.connect(host, port)
        return stream


class _Talk:
    """What is said before the proxy only passes bytes on."""

    def __init__(self, stream: httpcore.NetworkStream, instant: float | None) -> None:
        self._stream = stream
        self._instant = instant

    def greet(self, credentials: tuple[bytes, bytes] | None) -> None:
        """Agree on how to show who we are, and show it."""
        wanted = NO_CREDENTIALS if credentials is None else USER_AND_PASSWORD
        self._send(bytes([VERSION, 1, wanted]))
        version, chosen = self._read(2)
        if version != VERSION:
            raise httpcore.ProxyError("it does not speak SOCKS 5")
        if chosen != wanted:
            raise httpcore.ProxyError("it does not take what we show it of who we are")
        if credentials is not None:
            user, password = credentials
            self._send(bytes([1, len(user)]) + user + bytes([len(password)]) + password)
            _, status = self._read(2)
            if status:
                raise httpcore.ProxyError("it refuses our user or password")

    def connect(self, host: str, port: int) -> None:
        """Have it connect to the host, by name."""
        name = host.encode("idna") if not host.isascii() else host.encode()
        self._send(bytes([VERSION, CONNECT, 0, NAME, len(name)]) + name + port.to_bytes(2, "big"))
        _, status, _, kind = self._read(4)
        if status:
            raise httpcore.ProxyError(REFUSALS.get(status, "it cannot do that"))
        # Where it connected from tells us nothing, but stands before the answer.
        length = {IPV4: 4, IPV6: 16}.get(kind)
        self._read((self._read(1)[0] if length is None else length) + 2)

    def _send(self, data: bytes) -> None:
        self._stream.write(data, self._instant)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._stream.read(size - len(data), self._instant)
            if not part:
                raise httpcore.ProxyError("it hung up")
            data += part
        return data


@contextmanager
def _closed_unless_good(stream: httpcore.NetworkStream) -> Iterator[None]:
    """Close the connection when the proxy refuses; what it failed to say is its own fault."""
    try:
        yield
    except (httpcore.NetworkError, httpcore.TimeoutException) as exc:
        stream.close()
        raise httpcore.ProxyError("it gave no answer") from exc
    except BaseException:
        stream.close()
        raise
