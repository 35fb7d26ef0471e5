"""An archive with a domain that is large enough to split, and whose ads move while it is read.

A quarter of all runs has it. What is peculiar to it is drawn with dice of its own, so that the
stories of all other runs stay as they were.
"""

import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ppcfetch.errors import ProxyFailed
from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, Query, TotalRange
from tests.builders import NOON, a_page, an_ad
from tests.shelf import last_shown_inside, shown_on_any_day
from tests.simulation.servers import SimArchive, a_domain

if TYPE_CHECKING:
    from tests.simulation.world import World

PAGE_SIZE = 3
SPLIT_AT = 12
MOVING_SHARE = frozenset({2, 3})
"""Which of eight seeds have it: as many even ones as odd ones."""

SPAN = timedelta(days=3 * 365)
MINUTE = timedelta(minutes=1)
FORMATS = (AdFormat.TEXT, AdFormat.IMAGE, AdFormat.VIDEO)
WAYS = ("one.example:1", "two.example:2", "three.example:3")


def is_moving(seed: int) -> bool:
    """Tell whether the run of a seed has such an archive."""
    return seed % 8 in MOVING_SHARE


class MovingArchive(SimArchive):
    """Ads newest last shown first; a cursor is a place in that order, whatever the filters.

    Shape: the first domain is the large one. Some of these archives break their order, have
    windows that overlap, or kill whoever reads on in videos; over `broken` nobody gets through
    from `breaks` until `heals`.
    """

    is_still = False
    latency = (0.05, 0.3)

    def __init__(self, world: "World", dice: random.Random) -> None:
        self._dice = dice
        counts = [dice.randint(24, 40), *(dice.randint(1, 10) for _ in range(dice.randint(1, 3)))]
        super().__init__(world, {a_domain(n).name: c for n, c in enumerate(counts)})
        one_format = dice.choice([None, None, AdFormat.TEXT])
        self._ads = {
            a_domain(n).name: [
                self._first(n * 1000 + i, SPAN * i / count, one_format or FORMATS[i % 3])
                for i in range(count)
            ]
            for n, count in enumerate(counts)
        }
        self._moves_left = dice.choice([0, 4, 8, 12])
        self._window = last_shown_inside if dice.random() < 3 / 4 else shown_on_any_day
        self._kills_in_videos = one_format is None and dice.random() < 1 / 8
        self._breaks_order = dice.random() < 1 / 8
        self.ways = WAYS[: dice.randint(2, 3)] if dice.random() < 2 / 3 else ("direct",)
        lease = world.limits.lease.total_seconds()
        self.broken = dice.choice(self.ways) if len(self.ways) > 1 else None
        self.breaks = dice.uniform(0, 2) * lease
        self.heals = self.breaks + dice.choice([1, 3, 1000]) * lease

    def truth(self, domain: str) -> Mapping[str, datetime | None]:
        """Every ad of a domain as it is shown now."""
        return {ad.creative_id: ad.last_shown for ad in self._ads[domain]}

    def kills(self, query: Query, cursor: str | None) -> bool:
        """Tell whether asking for this ends the process."""
        return self._kills_in_videos and query.format is AdFormat.VIDEO and cursor is not None

    def refuse(self, way: str) -> None:
        """Let nobody through over the broken way out. Raises: ProxyFailed."""
        now = self.world.scheduler.now
        if way == self.broken and self.breaks <= now < self.heals:
            self.world.ledger.fault("egress broken", cost=0, until=now)
            raise ProxyFailed("status 502")

    def answer(self, query: Query, cursor: str | None) -> ArchivePage:
        """Give a page of what is there now."""
        self._move(query.domain.name)
        found = [ad for ad in self._ads[query.domain.name] if self._takes(query, ad)]
        total = TotalRange(len(found), len(found))
        rest = [ad for ad in found if cursor is None or _place(ad) < cursor]
        shown = rest[:PAGE_SIZE]
        following = _place(shown[-1]) if len(rest) > PAGE_SIZE else None
        if self._breaks_order and cursor is not None and self._dice.random() < 1 / 4:
            shown.reverse()
        return a_page(*shown, next_cursor=following, total=total)

    def _takes(self, query: Query, ad: Ad) -> bool:
        if query.format not in {None, ad.format}:
            return False
        if query.first_day is None or query.last_day is None:
            return True
        return self._window(ad, query.first_day, query.last_day)

    def _move(self, domain: str) -> None:
        """Show an ad again that was low down, or for the first time."""
        if not self._moves_left or self._dice.random() > 1 / 4:
            return
        self._moves_left -= 1
        ads = self._ads[domain]
        moment = (ads[0].last_shown or NOON) + MINUTE
        if self._dice.random() < 1 / 4:
            moved = self._first(900 + self._moves_left, NOON - moment, ads[0].format)
        else:
            moved = ads.pop(self._dice.randrange(len(ads) // 2, len(ads)))
        ads.insert(0, replace(moved, last_shown=moment))

    @staticmethod
    def _first(number: int, age: timedelta, shown_as: AdFormat) -> Ad:
        last = NOON - age
        first = last - timedelta(days=30)
        return an_ad(number, format=shown_as, first_shown=first, last_shown=last)


def _place(ad: Ad) -> str:
    """Give an ad's place in the order, as text that is greater the newer it is."""
    return f"{ad.last_shown:%Y-%m-%dT%H:%M:%S.%f} {ad.creative_id}"
