"""Watches and imports in memory (ports `WatchLists`, `Watched` and `Imports`)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from zlib import crc32

from ppcfetch.errors import Refused
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Freshness
from ppcfetch.model.watch import WatchedDomain
from ppcfetch.ports import Answered, Request, Wish
from tests.fakes_fetches import FakeDue


class FakeImports(FakeDue):
    """The port `Imports`."""

    def ask(self, domains: Sequence[DomainName], wish: Wish) -> Answered:
        with self.call():
            answer = self.look(domains, wish)
            for domain in domains:
                if not self._active(domain) and not self._is_fresh(domain, wish):
                    self._make(Request(domain, wish.reason, reach=wish.reach))
            return replace(answer, jobs=tuple(self.let_in()))

    def look(self, domains: Sequence[DomainName], wish: Wish) -> Answered:
        with self.call():
            rest = [domain for domain in domains if not self._active(domain)]
            fresh = sum(self._is_fresh(domain, wish) for domain in rest)
            return Answered(fresh, len(domains) - len(rest))

    def _is_fresh(self, domain: DomainName, wish: Wish) -> bool:
        row = self.domains.get(domain.name)
        if row is None:
            return False
        freshness = Freshness(row.checked_at, row.attempted_at)
        return not freshness.is_stale(self.moment(), wish.window)


class FakeWatches(FakeImports):
    """The ports `WatchLists` and `Watched`."""

    most_watches = 10_000

    @cached_property
    def watches(self) -> dict[tuple[int, str], datetime]:
        """Who watches what, and since when."""
        return {}

    def add(self, user_id: int, domain: DomainName) -> None:
        with self.call():
            mine = [name for owner, name in self.watches if owner == user_id]
            if domain.name not in mine and len(mine) >= self.most_watches:
                raise Refused("that is the most")
            self.watches.setdefault((user_id, domain.name), self.moment())

    def remove(self, user_id: int, domain: DomainName) -> None:
        with self.call():
            self.watches.pop((user_id, domain.name), None)

    def has(self, user_id: int, domain: DomainName) -> bool:
        with self.call():
            return (user_id, domain.name) in self.watches

    def of(self, user_id: int, count: int) -> Sequence[WatchedDomain]:
        with self.call():
            names = sorted(name for owner, name in self.watches if owner == user_id)
            return [self._watched(DomainName(name)) for name in names[:count]]

    def due(self, every: timedelta, count: int) -> Sequence[DomainName]:
        with self.call():
            coming = sorted(
                (self._comes_due(name, every), name)
                for name in {name for _, name in self.watches}
                if not self._active(DomainName(name))
            )
            return [DomainName(name) for due, name in coming if due <= self.moment()][:count]

    def _watched(self, domain: DomainName) -> WatchedDomain:
        row, active = self.domains.get(domain.name), self._active(domain) is not None
        if row is None:
            return WatchedDomain(domain, None, 0, is_active=active)
        return WatchedDomain(domain, row.checked_at, row.ads, is_active=active)

    def _comes_due(self, name: str, every: timedelta) -> datetime:
        """Give a domain's own moment, within a quarter of the time between two fetches."""
        row = self.domains.get(name)
        late = every / 4 * (crc32(name.encode()) % 1000 / 1000)
        if row is None or row.attempted_at is None:
            since = min(moment for (_, other), moment in self.watches.items() if other == name)
            return since + late
        return row.attempted_at + every + late
