"""Prove that date windows reach back to the very last ad of a query.

Source: it was seen that a date window finds nothing older than about a year, while the archive
still has such ads. A cursor is a place in the order, whatever the filters: so the query without a
window, asked from where its oldest window is about to end, has to end there, too.
"""

from collections.abc import Generator
from dataclasses import replace

from ppcfetch.errors import ArchiveUnavailable, Permanent
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.parts import FIRST_DAY, Days, ends_alike
from ppcfetch.usecases.probe import NotProven, Probe

MOST_PAGES = 20
SMALL_ENOUGH = 500
LARGEST = 2_000


def prove_reach(query: Query, older: Query, probe: Probe) -> Generator[None, None, None]:
    """Return when the windows of the query hold its oldest ads.

    Raises: NotProven when they do not, or when it cannot be told; else as `ask_page`.
    """
    window, page = yield from _oldest_window(older, probe)
    cursor = None
    for _ in range(MOST_PAGES):
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
        page = yield from probe(window, cursor)
    else:
        raise NotProven("the end of the oldest date window is too far away")
    try:
        own = yield from probe(query, cursor)
    except (ArchiveUnavailable, Permanent) as failure:
        raise NotProven("a place in a date window means nothing without it") from failure
    if not ends_alike(page, own):
        raise NotProven("date windows do not reach back to the oldest ads")


def _oldest_window(older: Query, probe: Probe) -> Generator[None, None, tuple[Query, ArchivePage]]:
    """Give a small window from the very first day that has a second page, and its first page."""
    days = Days(FIRST_DAY, older.last_day or FIRST_DAY)
    best: tuple[Query, ArchivePage] | None = None
    while days.are_left:
        window = replace(older, last_day=days.middle)
        page = yield from probe(window)
        if page.next_cursor is None:
            days = days.later()
            continue
        size = LARGEST + 1 if page.total is None else page.total.upper
        if size <= LARGEST:
            best = window, page
        if size <= SMALL_ENOUGH:
            break
        days = days.earlier()
    if best is None:
        raise NotProven("the oldest date window is too large to be read")
    return best
