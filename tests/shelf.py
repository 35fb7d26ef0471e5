"""An archive in memory whose date windows mean what a test wants them to mean."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta

from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, Query, TotalRange
from ppcfetch.model.egress import DIRECT
from tests.builders import NOON, a_page, an_ad

PAGE = 10
DAY = timedelta(days=1)

Window = Callable[[Ad, date, date], bool]


def last_shown_inside(ad: Ad, first: date, last: date) -> bool:
    return ad.last_shown is not None and first <= ad.last_shown.date() <= last


def shown_on_any_day(ad: Ad, first: date, last: date) -> bool:
    return bool(
        ad.first_shown
        and ad.last_shown
        and ad.first_shown.date() <= last
        and ad.last_shown.date() >= first
    )


def shown_only_inside(ad: Ad, first: date, last: date) -> bool:
    return (
        last_shown_inside(ad, first, last)
        and shown_on_any_day(ad, first, last)
        and bool(ad.first_shown and ad.first_shown.date() >= first)
    )


def nothing_before_may(ad: Ad, first: date, last: date) -> bool:
    return last_shown_inside(ad, max(first, date(2026, 5, 1)), last)


def nothing_since_summer(ad: Ad, first: date, last: date) -> bool:
    return last_shown_inside(ad, first, min(last, date(2026, 8, 20)))


class Shelf:
    """An archive in memory; `window` is what a date window means to it."""

    def __init__(self, ads: Sequence[Ad], window: Window = last_shown_inside) -> None:
        self.ads = ads
        self.window = window
        self.fail: Callable[[Query, str | None], None] = lambda _query, _cursor: None
        self.asked: list[Query] = []
        self.keeps_format = True

    def page(self, query: Query, cursor: str | None, *, via: str = DIRECT) -> ArchivePage:
        self.fail(query, cursor)
        self.asked.append(query)
        found = [(n, ad) for n, ad in enumerate(self.ads) if self.takes(query, ad)]
        total = TotalRange(len(found) * 4 // 5, len(found) * 6 // 5)
        rest = [(n, ad) for n, ad in found if n >= int(cursor or 0)]
        on_page = rest[:PAGE]
        following = str(on_page[-1][0] + 1) if len(rest) > PAGE else None
        return a_page(*(ad for _, ad in on_page), next_cursor=following, total=total)

    def takes(self, query: Query, ad: Ad) -> bool:
        if self.keeps_format and query.format not in {None, ad.format}:
            return False
        if query.first_day is None or query.last_day is None:
            return True
        return self.window(ad, query.first_day, query.last_day)


def a_shelf(window: Window = last_shown_inside, *, count: int = 240, **changes: object) -> Shelf:
    """Ads of all formats, one a day back from today; every sixth ran for a hundred days."""
    formats = [AdFormat.TEXT, AdFormat.IMAGE, AdFormat.VIDEO]
    ads = [
        an_ad(
            n,
            format=formats[n % 3],
            first_shown=NOON - n * DAY - (100 if n % 2 else 5) * DAY,
            last_shown=NOON - n * DAY,
        )
        for n in range(count)
    ]
    shelf = Shelf(ads, window)
    for name, value in changes.items():
        setattr(shelf, name, value)
    return shelf


def found(shelf: Shelf, parts: Sequence[Query]) -> list[str]:
    """The ads that all parts have, each as often as one has it."""
    return [ad.creative_id for part in parts for ad in shelf.ads if shelf.takes(part, ad)]


def held(shelf: Shelf, query: Query) -> list[str]:
    return sorted(found(shelf, [query]))
