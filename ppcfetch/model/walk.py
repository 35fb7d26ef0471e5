"""How a walk goes on behind a page: where it ends, and whether the archive kept its order."""

import itertools
from datetime import datetime

from ppcfetch.model.ad import ArchivePage
from ppcfetch.model.job import Checkpoint, Job, JobKind

NOTHING_LEFT = "the archive answered nothing for a cursor that it gave"
LOOKS_AT_NOTHING = 3
"""So many times it has to say so, each later than the one before, to be believed."""


def behind(job: Job, page: ArchivePage) -> Checkpoint:
    """Give the checkpoint behind a page that is about to be stored.

    Ads come newest last shown first, so a walk with an `until` is over at the first ad last shown
    before it. A page that breaks the order takes the `until` away: the walk goes to its end. So
    does an end that comes before any such ad: the walk of a fetch has then read everything there
    is. Ads without a date say nothing of either.
    """
    before = job.checkpoint
    shown = [ad.last_shown for ad in page.ads if ad.last_shown is not None]
    in_order = keeps_order(before.oldest, shown)
    until = before.until if in_order else None
    arrived = until is not None and any(moment < until for moment in shown)
    at_end = page.next_cursor is None
    if at_end and not arrived and job.kind is JobKind.WALK:
        until = None
    return before.after(
        pages=job.pages + 1,
        next_cursor=page.next_cursor,
        oldest=min(shown) if shown else None,
        newest=max(shown) if shown and not job.pages else None,
        until=until,
        ended=at_end or arrived,
        in_order=in_order,
    )


def leaves_a_doubt(job: Job, page: ArchivePage) -> bool:
    """Tell whether nothing was left behind a cursor that the archive gave, and it is early.

    Every ad that was left may have been shown again meanwhile and stand at the top now, where a
    top-up finds it. But the archive may be mistaken too: so it is asked several times.
    """
    if job.checkpoint.cursor is None or page.ads or page.next_cursor is not None:
        return False
    return job.attempts + 1 < LOOKS_AT_NOTHING or job.error != NOTHING_LEFT


def goes_to_its_end(job: Job, behind_page: Checkpoint) -> bool:
    """Tell whether the walk makes its fetch a full one, however it was begun."""
    return not behind_page.in_order or (job.kind is JobKind.WALK and behind_page.until is None)


def keeps_order(before: datetime | None, shown: list[datetime]) -> bool:
    """Tell whether times come newest first, none newer than the oldest of the page before."""
    times = shown if before is None else [before, *shown]
    return all(newer >= older for newer, older in itertools.pairwise(times))
