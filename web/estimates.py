"""How long it will take: ranges, rounded, and never counted down below the truth."""

from datetime import datetime
from math import ceil

from ppcfetch.model.fetch import Fetch
from ppcfetch.model.page import Waiting

ADS_A_PAGE = 100
ROUNDED_TO = 5
TOLD_IN_HOURS = 2 * 3600
SLOWER = 1.8
"""How much longer than the typical wait the cautious end of a range is."""


def pages_of(fetch: Fetch) -> tuple[int, int]:
    """Give the fewest and the most pages that a fetch may read, zeros when nobody knows.

    The archive's total says nothing of a refresh, which reads only what was shown since.
    """
    if fetch.total is None or fetch.is_refresh:
        return 0, 0
    return ceil(fetch.total.lower / ADS_A_PAGE), ceil(fetch.total.upper / ADS_A_PAGE)


def wait_of(waiting: Waiting) -> str:
    """Give when a queued fetch starts, in words; empty when nothing is known about it."""
    if waiting.ahead is None or waiting.typical is None:
        return ""
    if not waiting.workers:
        return "no worker is running right now; the request is kept"
    typical = waiting.ahead / waiting.workers * waiting.typical.total_seconds()
    return f"starts {_range(typical, typical * SLOWER)}" if typical else "starts any moment"


def left_of(fetch: Fetch, now: datetime) -> str:
    """Give how long a running fetch still needs, in words; empty before it can be told."""
    if fetch.total is None or fetch.is_refresh or fetch.started_at is None or fetch.pages == 0:
        return ""
    a_page = (now - fetch.started_at).total_seconds() / fetch.pages
    least = ceil(fetch.total.lower / ADS_A_PAGE) - fetch.pages
    most = ceil(fetch.total.upper / ADS_A_PAGE) - fetch.pages
    if most <= 0:
        return "done any moment"
    words = _range(max(least, 0) * a_page, most * a_page * (SLOWER if least == most else 1))
    return f"done {words}"


def _range(low: float, high: float) -> str:
    """Give a range of seconds in words, rounded outward."""
    first = int(low // ROUNDED_TO) * ROUNDED_TO
    last = ceil(high / ROUNDED_TO) * ROUNDED_TO
    if last <= ROUNDED_TO:
        return "any moment"
    if last < 120:  # noqa: PLR2004 - two minutes
        return (
            f"in about {max(first, ROUNDED_TO)}–{last} s" if first < last else f"in about {last} s"
        )
    if last > TOLD_IN_HOURS:
        return f"in about {max(1, first // 3600)}–{ceil(last / 3600)} h"
    return f"in about {max(1, first // 60)}–{ceil(last / 60)} min"
