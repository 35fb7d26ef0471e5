"""The emulator as the port Archive, without a socket in between; and what a query's truth is."""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from datetime import time as time_of_day
from typing import Any

from fixtures.emulator.archive import Archive as EmulatorArchive
from fixtures.emulator.behaviour import Director, parse
from fixtures.emulator.calls import Calls
from fixtures.emulator.filters import Filter, lanes, walk
from fixtures.emulator.journal import Journal
from ppcfetch.adapters.archive.wire import read_page, request_body, says_nothing
from ppcfetch.errors import ArchiveRejected, LeaseLost, Retryable
from ppcfetch.model.ad import AdFormat, ArchivePage, Query, TotalRange
from ppcfetch.model.egress import DIRECT, Permit
from ppcfetch.model.job import Job, Pool
from ppcfetch.model.lease import Lease
from tests.archive_reading import TODAY
from tests.builders import a_lease

_SEARCH = "/anji/_/rpc/SearchService/SearchCreatives"
_FORM = "application/x-www-form-urlencoded"
_OK = 200
_NOW = datetime.combine(TODAY, time_of_day(23, 59), UTC)
_CODES = {AdFormat.TEXT: 1, AdFormat.IMAGE: 2, AdFormat.VIDEO: 3}
_EPOCH = date(1970, 1, 1)


class EmulatedArchive:
    """Port Archive on an emulator of its own; `asked` are the queries and cursors so far."""

    def __init__(self, seed: int = 7, **behaviour: Any) -> None:
        director = Director(time.monotonic)
        director.put(parse(behaviour))
        self.calls = Calls(EmulatorArchive(seed, TODAY), director, Journal())
        self.asked: list[tuple[Query, str | None]] = []
        self.before: Callable[[Query, str | None], None] = lambda _query, _cursor: None

    def page(self, query: Query, cursor: str | None, *, via: str = DIRECT) -> ArchivePage:
        """Ask the emulator; `before` may raise instead."""
        self.before(query, cursor)
        self.asked.append((query, cursor))
        reply = self.calls.answer(_SEARCH, _FORM, request_body(query, cursor))
        if reply.status != _OK:
            raise ArchiveRejected(f"status {reply.status}")
        page = read_page(reply.body, now=_NOW, query=query, cursor=cursor)
        if not says_nothing(page):
            return page
        return ArchivePage((), None, None if cursor is not None else TotalRange(0, 0))

    def indices(self, query: Query) -> list[int]:
        """Give the numbers of the ads that a walk of the query would give now, without a walk."""
        portfolio = self.calls.archive.catalogue.portfolio(query.domain.name)
        if portfolio is None:
            return []
        first, last = query.first_day, query.last_day
        now = self.calls.director.behaviour()
        if first is not None and now.date_reach_days is not None:
            first = max(first, date.fromordinal(TODAY.toordinal() - now.date_reach_days))
        wanted = Filter(
            format=_CODES[query.format] if query.format else None,
            first_day=None if first is None else (first - _EPOCH).days,
            last_day=None if last is None else (last - _EPOCH).days,
            window=now.date_window,
        )
        return list(walk(lanes(portfolio, wanted), 0))


class FreePace:
    """A pace that asks to wait as often as it was told to, and never rests."""

    def __init__(self, *, rest: Any = None) -> None:
        self.rest = rest
        self.told: list[str] = []
        self.waits: list[Any] = []

    def ask(self, _pool: Pool) -> Any:
        """Give the next wait."""
        return (self.waits and self.waits.pop(0)) or Permit(DIRECT)

    def went_well(self, _permit: Permit) -> None:
        """Note it."""
        self.told.append("well")

    def went_badly(self, _permit: Permit, error: Retryable) -> Any:
        """Note it, and give the rest."""
        self.told.append(type(error).__name__)
        return self.rest


class LoneRun:
    """A run of one job that nobody else wants, until it is told to be lost."""

    def __init__(self, job: Job) -> None:
        self.lease: Lease = a_lease(job)
        self.is_lost = False

    def check(self) -> None:
        """Raise when lost."""
        if self.is_lost:
            raise LeaseLost("lost")

    def advanced(self, progress: Any) -> None:
        """Take the job as it is behind the page."""
        self.lease = a_lease(progress.job)
