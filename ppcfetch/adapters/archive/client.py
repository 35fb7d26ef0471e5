"""The archive's client: one question, one answer, within one deadline."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from types import TracebackType
from typing import Self

import httpx

from ppcfetch.adapters.archive.answer import EmptyBody
from ppcfetch.adapters.archive.control import Control
from ppcfetch.adapters.archive.exchange import exchange
from ppcfetch.adapters.archive.refusal import refuse
from ppcfetch.adapters.archive.transport import BoundedTransport
from ppcfetch.adapters.archive.wire import PATH, read_page, request_body, says_nothing
from ppcfetch.errors import ArchiveUnavailable, ConfigurationError, ProxyFailed
from ppcfetch.model.ad import ArchivePage, Query, TotalRange
from ppcfetch.model.domain import DomainName
from ppcfetch.model.egress import DIRECT, Proxy

KNOWN_TO_ADVERTISE = DomainName("google.com")
HEADERS = {
    "accept": "*/*",
    "accept-encoding": "gzip",
    "content-type": "application/x-www-form-urlencoded",
    "user-agent": "ppcfetch",
    "x-same-domain": "1",
}

Opening = Callable[[httpx.URL, Proxy | None], httpx.BaseTransport]
"""Gives what sends requests to an address, over a proxy or directly."""


class ArchiveClient:
    """Asks the archive at one address; implements the port `Archive`.

    Safe to use from many threads. It sends no cookies, follows no redirect, takes no proxy from
    the environment and never asks twice, except the control query behind an empty answer.

    Shape: without proxies the direct way is the only one. control is a domain that surely has
    ads at this address. What opening gives is closed with the client.
    Units: deadline bounds a call of `page`, a control query included.
    """

    def __init__(
        self,
        address: str,
        *,
        proxies: Sequence[Proxy] = (),
        opening: Opening = BoundedTransport,
        deadline: timedelta = timedelta(seconds=30),
        control: DomainName = KNOWN_TO_ADVERTISE,
        control_memory: timedelta = timedelta(minutes=1),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._url = _endpoint(address)
        ways: dict[str, Proxy | None] = {proxy.name: proxy for proxy in proxies} or {DIRECT: None}
        self._ways = {
            name: _Way(name, opening(self._url, proxy), Control(control, control_memory))
            for name, proxy in ways.items()
        }
        self._deadline = deadline
        self._now = now

    def page(self, query: Query, cursor: str | None, *, via: str | None = None) -> ArchivePage:
        """Ask for one page of a walk over an egress; cursor None is the first one.

        Shape: via None is the first egress. The total is 0 to 0 for a query that has no ads.
        That, and that nothing is left behind a cursor, is said only after the control query was
        answered with some, over the same egress.
        A body without a byte has been seen to mean the same, and may be an accident: it is taken
        for that when it comes twice, with the control query's answer between.
        Raises: as the port says.
        """
        way = self._ways[via or next(iter(self._ways))]
        by = time.monotonic() + self._deadline.total_seconds()
        try:
            page = self._ask(way, query, cursor, by)
        except EmptyBody:
            page = self._again(way, query, cursor, by)
        if not says_nothing(page):
            return page
        self._confirm(way, by)
        return page if cursor is not None else replace(page, total=TotalRange(0, 0))

    def close(self) -> None:
        """Close the connections."""
        for way in self._ways.values():
            way.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _confirm(self, way: "_Way", by: float) -> None:
        way.control.confirm(lambda control, until: self._ask(way, control, None, until), by=by)

    def _again(self, way: "_Way", query: Query, cursor: str | None, by: float) -> ArchivePage:
        self._confirm(way, by)
        try:
            return self._ask(way, query, cursor, by)
        except EmptyBody:
            return ArchivePage((), None, None)

    def _ask(self, way: "_Way", query: Query, cursor: str | None, by: float) -> ArchivePage:
        left = timedelta(seconds=by - time.monotonic())
        if left <= timedelta(0):
            raise ArchiveUnavailable("no time was left to ask the archive")
        body = request_body(query, cursor)
        request = httpx.Request("POST", self._url, headers=HEADERS, content=body)
        reply = exchange(way.transport, request, within=left)
        if reply.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED and way.name != DIRECT:
            message = f"the proxy does not let us through: it answers with status {reply.status}"
            raise ProxyFailed(message)
        refuse(reply, now=self._now())
        return read_page(reply.body, query=query, cursor=cursor, now=self._now())


@dataclass(frozen=True, slots=True)
class _Way:
    """An egress; a silent wall may stand before one and not before another."""

    name: str
    transport: httpx.BaseTransport
    control: Control


def _endpoint(address: str) -> httpx.URL:
    """Give the address of the one call that is made."""
    try:
        url = httpx.URL(address.rstrip("/") + PATH)
    except httpx.InvalidURL as exc:
        raise ConfigurationError("the archive's address is not a web address") from exc
    if url.scheme not in {"http", "https"} or not url.host or url.userinfo:
        # Without the address itself: it may hold a password.
        raise ConfigurationError("the archive's address must be http(s)://host without a password")
    return url
