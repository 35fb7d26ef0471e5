"""Sockets that keep one deadline for a whole exchange.

The usual timeouts count from each read anew: a peer that sends a byte now and then holds its
caller for ever, and does so already while sending headers. Here what httpcore carries around as
a timeout is the instant on the monotonic clock at which everything must have ended; each single
step is given the time that is left. That needs no watchdog and no thread for a request.
"""

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Any

import httpcore

SocketOptions = Iterable[httpcore.SOCKET_OPTION] | None
Failure = Callable[[str], Exception]


class InstantBackend(httpcore.NetworkBackend):
    """Connects within the instant, however many addresses a name has."""

    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(  # noqa: PLR0917 - httpcore's own signature
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: SocketOptions = None,
    ) -> httpcore.NetworkStream:
        """Give a connection to the first address that accepts one."""
        addresses = _addresses(host, port, timeout)
        for number, address in enumerate(addresses):
            left = _left(timeout, httpcore.ConnectTimeout)
            share = left / (len(addresses) - number) if left else None
            try:
                stream = self._inner.connect_tcp(
                    address, port, share, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(addresses) - 1:
                    raise
            else:
                return InstantStream(stream)
        raise httpcore.ConnectError(f"{host} has no address")


class InstantStream(httpcore.NetworkStream):
    """A connection whose every step ends by the instant it is given."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Give what has arrived, waiting for it no longer than the instant."""
        return self._inner.read(max_bytes, _left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send; our requests fit into the socket's buffer, so that this is one step."""
        self._inner.write(buffer, _left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Give the encrypted connection; Python bounds the handshake as a whole."""
        left = _left(timeout, httpcore.ConnectTimeout)
        return InstantStream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        """Give what httpcore asks about the socket."""
        return self._inner.get_extra_info(info)


def _left(instant: float | None, failure: Failure) -> float | None:
    """Give the seconds that are left. Raises: the failure when there are none."""
    if instant is None:
        return None
    left = instant - time.monotonic()
    if left <= 0:
        raise failure("the deadline has passed")
    return left


def _addresses(host: str, port: int, instant: float | None) -> list[str]:
    """Look a name up within the instant.

    The resolver has no timeout of its own, so it runs in a thread that may be left behind: one
    for a new connection to a name, none for a request on a connection that was kept.
    """
    if _is_address(host):
        return [host]
    answers: SimpleQueue[list[str] | OSError] = SimpleQueue()
    threading.Thread(target=_look_up, args=(host, port, answers), daemon=True).start()
    try:
        found = answers.get(timeout=_left(instant, httpcore.ConnectTimeout))
    except Empty as exc:
        raise httpcore.ConnectTimeout(f"no answer to the look-up of {host}") from exc
    if isinstance(found, OSError):
        raise httpcore.ConnectError(str(found)) from found
    return found


def _look_up(host: str, port: int, answers: "SimpleQueue[list[str] | OSError]") -> None:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as exc:
        answers.put(exc)
    else:
        answers.put(list(dict.fromkeys(str(entry[4][0]) for entry in found)))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
