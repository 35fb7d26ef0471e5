"""Split a huge walk into parts that several workers walk at once, if nothing is lost by it.

Everything here costs calls and changes nothing: a walk that is not split is walked as it is.
"""

from collections.abc import Generator

import structlog

from ppcfetch.errors import Permanent, Retryable
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.parts import (
    Days,
    agree,
    by_format,
    dated,
    halves,
    holds_the_top,
    is_fair,
    is_in_order,
    keeps_within,
    may_be_split,
    share_of,
)
from ppcfetch.ports import Run
from ppcfetch.usecases.ask_archive import Asking
from ppcfetch.usecases.probe import NotProven, Probe
from ppcfetch.usecases.prove_reach import prove_reach


def split(
    run: Run, page: ArchivePage, *, asking: Asking, at: int
) -> Generator[None, None, tuple[Query, ...]]:
    """Give the parts into which a walk is better split at its first page; empty when into none.

    Shape: yields None at moments when the run may be stopped without losing work. The parts
    together have every ad of the walk's query, and each decides again for itself.
    Units: at is how many ads make a walk worth splitting.
    Raises: LeaseLost; Retryable, where the job has no error yet: the walk is to begin again later,
    and be split then.
    """
    job = run.lease.job
    if not may_be_split(job, page, at=at):
        return ()
    probe = Probe(run, asking)
    log = structlog.get_logger().bind(job=job.id, domain=job.query.domain.name)
    try:
        parts = yield from _parts(job.query, page, probe)
    except (NotProven, Permanent) as why:
        log.info("walk.not_split", why=str(why), probes=probe.asked)
        return ()
    except Retryable as why:
        if job.error is None:
            raise
        # Once more in vain. An archive that blocks after fewer calls than this takes would block
        # each time, and the walk would never begin: so its first page is kept.
        log.warning("walk.not_split", why=str(why), probes=probe.asked)
        return ()
    log.info("walk.split", parts=len(parts), probes=probe.asked)
    return parts


def _parts(
    query: Query, page: ArchivePage, probe: Probe
) -> Generator[None, None, tuple[Query, ...]]:
    formats = by_format(query, page)
    if formats and (yield from _agree(page, formats, probe)):
        return formats
    return (yield from _by_days(query, page, probe))


def _agree(
    page: ArchivePage, parts: tuple[Query, ...], probe: Probe
) -> Generator[None, None, bool]:
    totals = []
    for part in parts:
        first = yield from probe(part)
        totals.append(first.total)
    return agree(page.total, totals)


def _by_days(
    query: Query, page: ArchivePage, probe: Probe
) -> Generator[None, None, tuple[Query, ...]]:
    window = dated(query, page)
    if window is None or not is_in_order(page):
        raise NotProven("its ads are not ordered by when they were last shown")
    newer, older, older_page = yield from _halved(window, page, probe)
    newer_page = yield from probe(newer)
    if not agree(page.total, [newer_page.total, older_page.total]):
        raise NotProven("two date windows have another total than both together")
    if not (keeps_within(newer, newer_page) and holds_the_top(newer, newer_page, page)):
        raise NotProven("a date window leaves ads out")
    if query.first_day is None:
        # Parts of a window that was proven to hold everything need no such proof again.
        yield from prove_reach(query, older, probe)
    return newer, older


def _halved(
    window: Query, page: ArchivePage, probe: Probe
) -> Generator[None, None, tuple[Query, Query, ArchivePage]]:
    """Give newer half, older half and the older one's first page."""
    days = Days.to_halve(window)
    while days.are_left:
        older, newer = halves(window, days.middle)
        first = yield from probe(older)
        if not keeps_within(older, first):
            raise NotProven("date windows overlap")
        share = share_of(first.total, page.total)
        if is_fair(share):
            return newer, older, first
        days = days.later() if share < 1 / 2 else days.earlier()
    raise NotProven("no day divides it well")
