"""One bounded exchange: a request goes out, a whole answer comes back, or an error of ours."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

import httpx

from ppcfetch.errors import ArchiveChanged, ArchiveUnavailable, ProxyFailed

LARGEST_BODY = 8 * 1024 * 1024
"""Bytes, on the line and decoded; a page of a hundred ads has about fifty thousand."""

_GZIP = 31  # zlib's number for: gzip with its header, largest window
_READ = frozenset({HTTPStatus.OK, HTTPStatus.BAD_REQUEST})


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its status, headers and decoded body.

    Shape: body is empty for a status whose body says nothing that we would act on.
    """

    status: int
    headers: httpx.Headers
    body: bytes


def exchange(transport: httpx.BaseTransport, request: httpx.Request, *, within: timedelta) -> Reply:
    """Send a request and read the answer.

    Units: within bounds everything from connecting to the body's last byte.
    Raises: ProxyFailed when a proxy did not let us through, ArchiveUnavailable for a failed or
    cut exchange, ArchiveChanged for a body too large or in an encoding that was not asked for.
    """
    request.extensions["timeout"] = httpx.Timeout(within.total_seconds()).as_dict()
    host = request.url.netloc.decode("ascii")
    try:
        response = transport.handle_request(request)
        try:
            body = _body(response) if response.status_code in _READ else b""
        finally:
            response.close()
    except httpx.TimeoutException as exc:
        message = f"the archive at {host} did not finish its answer in time"
        raise ArchiveUnavailable(message) from exc
    except httpx.ProxyError as exc:
        raise ProxyFailed(f"the proxy does not let us through: {exc}") from exc
    except httpx.TransportError as exc:
        raise ArchiveUnavailable(f"the connection to the archive at {host} failed: {exc}") from exc
    return Reply(response.status_code, response.headers, body)


def _body(response: httpx.Response) -> bytes:
    encoding = response.headers.get("content-encoding", "").strip().lower()
    chunks = _bounded(response.stream)
    if encoding in {"", "identity"}:
        return b"".join(chunks)
    if encoding not in {"gzip", "x-gzip"}:
        message = (
            f'the archive answered in the encoding "{encoding[:40]}", which we did not ask for'
        )
        raise ArchiveChanged(message, field="content-encoding")
    return inflate(chunks)


def inflate(chunks: Iterable[bytes]) -> bytes:
    """Give the decoded bytes of a gzip stream, never more than the largest body.

    Raises: ArchiveUnavailable when the stream is cut or damaged, ArchiveChanged when too large.
    """
    inflater = zlib.decompressobj(_GZIP)
    parts: list[bytes] = []
    left = LARGEST_BODY
    started = False
    try:
        for chunk in chunks:
            started = started or bool(chunk)
            if not inflater.eof:
                parts.append(inflater.decompress(chunk, left + 1))
                left -= len(parts[-1])
            if left < 0:
                _refuse_size()
    except zlib.error as exc:
        raise ArchiveUnavailable("the archive's answer is damaged gzip") from exc
    if started and not inflater.eof:
        raise ArchiveUnavailable("the archive's answer is cut gzip")
    return b"".join(parts)


def _bounded(chunks: httpx.SyncByteStream | httpx.AsyncByteStream) -> Iterator[bytes]:
    """Pass on the bytes as they came over the line, until they are too many."""
    if not isinstance(chunks, httpx.SyncByteStream):
        raise TypeError("the transport is not a synchronous one")
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > LARGEST_BODY:
            _refuse_size()
        yield chunk


def _refuse_size() -> None:
    message = f"the archive's answer is larger than {LARGEST_BODY:,} bytes"
    raise ArchiveChanged(message, field="body")
