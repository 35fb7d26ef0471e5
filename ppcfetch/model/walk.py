"""How a walk goes on behind a page: where it ends, and whether the archive kept its order."""

import itertools
from datetime import datetime

from ppcfetch.model.ad import ArchivePage
from ppcfetch.model.job import Checkpoint, Job


def behind(job: Job, page: ArchivePage) -> Checkpoint:
    """Give the checkpoint behind a page that is about to be stored.

    Ads come newest last shown first, so a walk with an `until` is over at the first ad last shown
    before it. A page that breaks the order takes the `until` away: the walk goes to its end.
    Ads without a date say nothing of either.
    """
    before = job.checkpoint
    shown = [ad.last_shown for ad in page.ads if ad.last_shown is not None]
    in_order = keeps_order(before.oldest, shown)
    until = before.until if in_order else None
    return before.after(
        pages=job.pages + 1,
        next_cursor=page.next_cursor,
        oldest=min(shown) if shown else None,
        newest=max(shown) if shown and not job.pages else None,
        until=until,
        ended=page.next_cursor is None or (until is not None and any(s < until for s in shown)),
        in_order=in_order,
    )


def keeps_order(before: datetime | None, shown: list[datetime]) -> bool:
    """Tell whether times come newest first, none newer than the oldest of the page before."""
    times = shown if before is None else [before, *shown]
    return all(newer >= older for newer, older in itertools.pairwise(times))
