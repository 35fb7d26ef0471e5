"""HTTP to one host, with one deadline for connecting, headers and body together."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpcore
import httpx

from ppcfetch.adapters.archive.network import InstantBackend

_KEEP_SECONDS = 30.0
_ERRORS = (
    (httpcore.TimeoutException, httpx.TimeoutException),
    (httpcore.NetworkError, httpx.NetworkError),
    (httpcore.ProxyError, httpx.ProxyError),
    (httpcore.ProtocolError, httpx.ProtocolError),
    (httpcore.UnsupportedProtocol, httpx.UnsupportedProtocol),
)


class BoundedTransport(httpx.BaseTransport):
    """Sends requests to the host of one address and to no other.

    Safe to use from many threads; connections are kept and shared. No proxy or certificate is
    taken from the environment. The read timeout of a request counts for the whole exchange.
    """

    def __init__(self, address: httpx.URL) -> None:
        self._origin = (address.scheme, address.host, address.port)
        secure = address.scheme == "https"
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False) if secure else None,
            max_connections=None,  # as many as there are threads: nobody waits for a turn
            keepalive_expiry=_KEEP_SECONDS,
            network_backend=InstantBackend(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Give the answer, its body still to be read under the same deadline."""
        url = request.url
        if (url.scheme, url.host, url.port) != self._origin:
            raise httpx.UnsupportedProtocol(f"requests to {url.host} are not allowed")
        limit = request.extensions["timeout"]["read"]
        instant = None if limit is None else time.monotonic() + limit
        steps = {"connect": instant, "read": instant, "write": instant}
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=request.read(),
            extensions={"timeout": steps},
        )
        with _translated():
            answer = self._pool.handle_request(sent)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def close(self) -> None:
        """Close the kept connections."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _translated():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


@contextmanager
def _translated() -> Iterator[None]:
    """Raise httpx's errors, which the tests' transports raise, too."""
    try:
        yield
    except Exception as exc:
        for theirs, ours in _ERRORS:
            if isinstance(exc, theirs):
                raise ours(str(exc)) from exc
        raise
