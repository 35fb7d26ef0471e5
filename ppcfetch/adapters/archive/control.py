"""The control query: before an empty answer may mean "no ads", the archive must show some."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from ppcfetch.adapters.archive.answer import EmptyBody
from ppcfetch.errors import ArchiveBlocked, ArchiveUnavailable
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.domain import DomainName

Ask = Callable[[Query, float], ArchivePage]
"""Asks for the first page of a query by an instant of the monotonic clock."""


class Control:
    """Remembers that a domain known to have ads was answered with ads.

    A silent wall answers ``{}`` to everything, as does the archive to a request that it no longer
    understands. The memory is short: a wall raised behind a remembered answer would turn into
    "no ads" for every domain asked meanwhile.
    """

    def __init__(self, domain: DomainName, memory: timedelta) -> None:
        self._query = Query(domain)
        self._memory = memory.total_seconds()
        self._good_until = 0.0
        self._one_asks = threading.Lock()

    def confirm(self, ask: Ask, *, by: float) -> None:
        """Return when an empty answer can be believed.

        Units: by is an instant of the monotonic clock.
        Raises: ArchiveBlocked when the control is empty, too: blocked rather than changed, since
        that rests the egress and loses no job, whichever of the two it is. What asking raises.
        """
        if not self._one_asks.acquire(timeout=max(by - time.monotonic(), 0)):
            raise ArchiveUnavailable("no time was left to check an empty answer")
        try:
            if time.monotonic() < self._good_until:
                return
            if not self._has_ads(ask, by):
                domain = self._query.domain
                raise ArchiveBlocked(f"the archive answers nothing, not even for {domain}")
            self._good_until = time.monotonic() + self._memory
        finally:
            self._one_asks.release()

    def _has_ads(self, ask: Ask, by: float) -> bool:
        try:
            return bool(ask(self._query, by).ads)
        except EmptyBody:
            return False
