"""HTTP to one host, with one deadline for connecting, headers and body together."""

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpcore
import httpx

from ppcfetch.adapters.archive.network import InstantBackend
from ppcfetch.adapters.archive.socks import SocksBackend
from ppcfetch.model.egress import Proxy

_KEEP_SECONDS = 30.0
_LONGEST_CONNECT_SECONDS = 10.0
"""Of a proxy: another may be free, so that nobody has to wait for it to the deadline."""

_BEFORE_THE_ARCHIVE = (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.ProxyError)
"""What goes wrong on the way to a proxy and through it, before the archive heard anything."""
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

    Shape: proxy None is the direct way; trust None means the usual certificates.
    Raises: httpx.ProxyError when a proxy is what failed, other errors of httpx for the archive.
    """

    def __init__(
        self, address: httpx.URL, proxy: Proxy | None = None, *, trust: ssl.SSLContext | None = None
    ) -> None:
        self._origin = (address.scheme, address.host, address.port)
        self._is_proxied = proxy is not None
        secure = address.scheme == "https" or (proxy is not None and proxy.scheme == "https")
        usual = httpx.create_ssl_context(trust_env=False) if secure and trust is None else trust
        socks = proxy is not None and proxy.is_socks
        self._pool = httpcore.ConnectionPool(
            ssl_context=usual,
            proxy=_http_proxy(proxy, usual) if proxy is not None and not socks else None,
            max_connections=None,  # as many as there are threads: nobody waits for a turn
            keepalive_expiry=_KEEP_SECONDS,
            network_backend=SocksBackend(proxy)
            if proxy is not None and socks
            else InstantBackend(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Give the answer, its body still to be read under the same deadline."""
        url = request.url
        if (url.scheme, url.host, url.port) != self._origin:
            raise httpx.UnsupportedProtocol(f"requests to {url.host} are not allowed")
        limit = request.extensions["timeout"]["read"]
        instant = None if limit is None else time.monotonic() + limit
        steps = {"connect": self._connected_by(instant), "read": instant, "write": instant}
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=request.read(),
            extensions={"timeout": steps},
        )
        with _translated(), _blamed(is_proxied=self._is_proxied):
            answer = self._pool.handle_request(sent)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def _connected_by(self, instant: float | None) -> float | None:
        if not self._is_proxied:
            return instant
        soon = time.monotonic() + _LONGEST_CONNECT_SECONDS
        return soon if instant is None else min(instant, soon)

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


def _http_proxy(proxy: Proxy, trust: ssl.SSLContext | None) -> httpcore.Proxy:
    url = httpcore.URL(
        scheme=proxy.scheme.encode(), host=proxy.host.encode(), port=proxy.port, target=b"/"
    )
    secure = proxy.scheme == "https"
    return httpcore.Proxy(url, auth=proxy.credentials, ssl_context=trust if secure else None)


@contextmanager
def _blamed(*, is_proxied: bool) -> Iterator[None]:
    """Turn what happens before a proxy has connected us into the proxy's failure."""
    try:
        yield
    except _BEFORE_THE_ARCHIVE as exc:
        if not is_proxied:
            raise
        # Without its cause: some proxies repeat user and password in their refusal.
        raise httpcore.ProxyError(_what(exc)) from None


def _what(failure: Exception) -> str:
    """Say what went wrong, of a refusal the status alone: the words behind it are the proxy's."""
    text = str(failure)
    if isinstance(failure, httpcore.ProxyError) and text[:3].isdigit():
        return f"it answers with status {text[:3]}"
    return text or "no connection in time"
