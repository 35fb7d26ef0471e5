"""How a walk can be split: into which queries, and what proves that they lose nothing.

Source: what the archive's filters mean was never told, only tried out. So nothing is taken on
trust here: totals have to agree, and pages have to show the ads that they should.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date, timedelta

from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, Query, TotalRange
from ppcfetch.model.job import Job, JobKind
from ppcfetch.model.walk import keeps_order

FIRST_DAY = date(2000, 1, 1)
"""Before any ad: a window from here has no beginning."""

FORMATS = (AdFormat.TEXT, AdFormat.IMAGE, AdFormat.VIDEO)
SLACK = timedelta(days=1)
"""A day of the archive may begin elsewhere than a day of ours."""

MOST_OF_ALL = timedelta(days=4 * 365)
LEAST_SHARE, LARGEST_SHARE = 0.3, 0.7


def may_be_split(job: Job, page: ArchivePage, *, at: int) -> bool:
    """Tell whether a walk of so many ads or more stands at its first page, and is to go to its end.

    Units: at counts ads; the archive's lower number has to reach it.
    """
    is_whole = job.kind is JobKind.WALK and not job.pages and job.checkpoint.until is None
    is_large = page.total is not None and page.total.lower >= at
    return is_whole and is_large and page.next_cursor is not None


def is_in_order(page: ArchivePage) -> bool:
    """Tell whether the page has dates, and is newest last shown first."""
    shown = [ad.last_shown for ad in page.ads if ad.last_shown is not None]
    return bool(shown) and keeps_order(None, shown)


def by_format(query: Query, page: ArchivePage) -> tuple[Query, ...]:
    """Give one query for each format; empty when that would lose ads, or was done before."""
    if query.format is not None or any(ad.format is AdFormat.UNKNOWN for ad in page.ads):
        return ()
    return tuple(replace(query, format=one) for one in FORMATS)


def agree(whole: TotalRange | None, parts: Collection[TotalRange | None]) -> bool:
    """Tell whether parts can be the whole, no more and no less, as far as rounding lets us know."""
    known = [part for part in parts if part is not None]
    if whole is None or len(known) < len(parts):
        return False
    is_more = sum(part.lower for part in known) > whole.upper
    is_less = sum(part.upper for part in known) < whole.lower
    return not is_more and not is_less


def dated(query: Query, page: ArchivePage) -> Query | None:
    """Give the query as one date window; None when its first page says no date.

    What is shown again later than a day after the page belongs to no window: the fetch reads
    that once more from the top when all parts have ended.
    """
    if query.first_day is not None:
        return query
    shown = [ad.last_shown for ad in page.ads if ad.last_shown is not None]
    if not shown:
        return None
    return replace(query, first_day=FIRST_DAY, last_day=max(shown).date() + SLACK)


def halves(window: Query, day: date) -> tuple[Query, Query]:
    """Give the part of a window that ends with a day, and the one that begins behind it."""
    return replace(window, last_day=day), replace(window, first_day=day + timedelta(days=1))


def share_of(part: TotalRange | None, whole: TotalRange | None) -> float:
    """Give which share of the whole a part seems to have; 0 when one of them is unknown."""
    if part is None or whole is None or not whole.upper:
        return 0
    return (part.lower + part.upper) / (whole.lower + whole.upper)


def is_fair(share: float) -> bool:
    """Tell whether both halves are worth a walk of their own."""
    return LEAST_SHARE <= share <= LARGEST_SHARE


@dataclass(frozen=True, slots=True)
class Days:
    """The days that a search for one among them has left, both ends inside."""

    first: date
    last: date

    @classmethod
    def to_halve(cls, window: Query) -> "Days":
        """Give the days that may end the older half of a window; none when it is a single day."""
        first, last = window.first_day or FIRST_DAY, window.last_day or FIRST_DAY
        return cls(max(first, last - MOST_OF_ALL), last - timedelta(days=1))

    @property
    def are_left(self) -> bool:
        """Whether there is a day to try."""
        return self.first <= self.last

    @property
    def middle(self) -> date:
        """The day to try next."""
        return self.first + (self.last - self.first) // 2

    def earlier(self) -> "Days":
        """Give what is left when the middle was too late."""
        return Days(self.first, self.middle - timedelta(days=1))

    def later(self) -> "Days":
        """Give what is left when the middle was too early."""
        return Days(self.middle + timedelta(days=1), self.last)


def keeps_within(window: Query, page: ArchivePage) -> bool:
    """Tell whether all ads of a window's page were last shown inside it: so windows part ads."""
    if window.first_day is None or window.last_day is None:
        return True
    first, last = window.first_day - SLACK, window.last_day + SLACK
    shown = [ad.last_shown.date() for ad in page.ads if ad.last_shown is not None]
    return all(first <= day <= last for day in shown)


def holds_the_top(newer: Query, newer_page: ArchivePage, page: ArchivePage) -> bool:
    """Tell whether the newer half has every ad of the whole's first page that it should have.

    A window that asked for ads that were shown inside it from first to last, or that left out
    ads without a date, would not. Ads shown again meanwhile are at its top.
    """
    held = {ad.creative_id for ad in newer_page.ads}
    oldest = min((ad.last_shown for ad in newer_page.ads if ad.last_shown), default=None)
    if newer.first_day is None or oldest is None:
        return False
    reaches_end = newer_page.next_cursor is None
    missing: list[Ad] = []
    for ad in page.ads:
        missing.append(ad)
        if ad.last_shown is None:
            continue  # as old as the next one with a date, or newer
        is_inside = ad.last_shown.date() > newer.first_day
        if not is_inside or not (reaches_end or ad.last_shown > oldest):
            break
        if any(one.creative_id not in held for one in missing):
            return False
        missing.clear()
    return True


def ends_alike(page: ArchivePage, own: ArchivePage) -> bool:
    """Tell whether the query without a window ends where its oldest window ends.

    Shape: page is the last one of the window, own the query's answer to the same cursor.
    """
    held = {ad.creative_id for ad in page.ads}
    return own.next_cursor is None and all(ad.creative_id in held for ad in own.ads)
