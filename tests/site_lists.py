"""Followers and watch-lists of the site on made answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ppcfetch.errors import Refused
from ppcfetch.model.domain import DomainName
from ppcfetch.model.following import Company, Leaving
from ppcfetch.model.watch import WatchedDomain


@dataclass
class FakeFollowing:
    """Says of each person what it was told to; remembers who left."""

    companies: dict[int, Company] = field(default_factory=dict)
    answers: dict[int, Leaving] = field(default_factory=dict)
    left: list[tuple[int, int]] = field(default_factory=list)

    def company(self, fetch_id: int, user_id: int) -> Company:
        return self.companies.get(user_id, Company())

    def leave(self, fetch_id: int, user_id: int) -> Leaving:
        self.left.append((fetch_id, user_id))
        return self.answers.get(user_id, Leaving.STRANGER)


@dataclass
class FakeWatchLists:
    """Lists in memory."""

    lists: dict[int, dict[str, WatchedDomain]] = field(default_factory=dict)
    most: int = 100

    def add(self, user_id: int, domain: DomainName) -> None:
        mine = self.lists.setdefault(user_id, {})
        if len(mine) >= self.most:
            raise Refused(f"You watch {self.most} domains, and that is the most.")
        mine.setdefault(domain.name, WatchedDomain(domain, None, 0))

    def remove(self, user_id: int, domain: DomainName) -> None:
        self.lists.get(user_id, {}).pop(domain.name, None)

    def has(self, user_id: int, domain: DomainName) -> bool:
        return domain.name in self.lists.get(user_id, {})

    def of(self, user_id: int, count: int) -> Sequence[WatchedDomain]:
        mine = self.lists.get(user_id, {})
        return [mine[name] for name in sorted(mine)][:count]
