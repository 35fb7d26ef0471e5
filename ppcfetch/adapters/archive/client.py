"""The archive's client: one question, one answer, within one deadline."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self

import httpx

from ppcfetch.adapters.archive.control import Control
from ppcfetch.adapters.archive.exchange import exchange
from ppcfetch.adapters.archive.refusal import refuse
from ppcfetch.adapters.archive.transport import BoundedTransport
from ppcfetch.adapters.archive.wire import PATH, read_page, request_body, says_nothing
from ppcfetch.errors import ArchiveUnavailable, ConfigurationError
from ppcfetch.model.ad import ArchivePage, Query, TotalRange
from ppcfetch.model.domain import DomainName
from ppcfetch.model.egress import DIRECT

KNOWN_TO_ADVERTISE = DomainName("google.com")


class ArchiveClient:
    """Asks the archive at one address; implements the port `Archive`.

    Safe to use from many threads. It sends no cookies, follows no redirect, takes no proxy from
    the environment and never asks twice, except the control query behind an empty answer.

    Shape: control is a domain that surely has ads at this address. transport is closed with the
    client.
    Units: deadline bounds a call of `page`, a control query included.
    """

    def __init__(
        self,
        address: str,
        *,
        transport: httpx.BaseTransport | None = None,
        deadline: timedelta = timedelta(seconds=30),
        control: DomainName = KNOWN_TO_ADVERTISE,
        control_memory: timedelta = timedelta(minutes=1),
        user_agent: str = "ppcfetch",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._url = _endpoint(address)
        self._transport = transport or BoundedTransport(self._url)
        self._deadline = deadline
        self._control = Control(control, control_memory)
        self._headers = {
            "accept": "*/*",
            "accept-encoding": "gzip",
            "content-type": "application/x-www-form-urlencoded",
            "user-agent": user_agent,
            "x-same-domain": "1",
        }
        self._now = now

    def page(self, query: Query, cursor: str | None, *, via: str = DIRECT) -> ArchivePage:  # noqa: ARG002 - one egress so far
        """Ask for one page of a walk; cursor None is the first one.

        Shape: the total is 0 to 0 for a query that has no ads, which is said only after the
        control query was answered with some.
        Raises: as the port says.
        """
        by = time.monotonic() + self._deadline.total_seconds()
        page = self._ask(query, cursor, by)
        if not says_nothing(page):
            return page
        if cursor is not None:
            raise ArchiveUnavailable("the archive answered nothing for a cursor that it gave")
        self._control.confirm(lambda control, until: self._ask(control, None, until), by=by)
        return replace(page, total=TotalRange(0, 0))

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, query: Query, cursor: str | None, by: float) -> ArchivePage:
        left = timedelta(seconds=by - time.monotonic())
        if left <= timedelta(0):
            raise ArchiveUnavailable("no time was left to ask the archive")
        body = request_body(query, cursor)
        request = httpx.Request("POST", self._url, headers=self._headers, content=body)
        reply = exchange(self._transport, request, within=left)
        refuse(reply, now=self._now())
        return read_page(reply.body, query=query, cursor=cursor, now=self._now())


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
