"""Where a walk ends, and whether the archive kept its order: laws over invented pages."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppcfetch.model.ad import ArchivePage
from ppcfetch.model.job import Checkpoint, Job, JobKind
from ppcfetch.model.walk import behind, goes_to_its_end, keeps_order
from tests.builders import NOON, a_job, a_page, an_ad

HOUR = timedelta(hours=1)
Hours = list[int | None]

hours = st.lists(st.none() | st.integers(0, 60), max_size=12)
ages = st.integers(0, 60)
kinds = st.sampled_from(JobKind)


def at(hours_ago: int) -> datetime:
    """Give the time so long before noon."""
    return NOON - hours_ago * HOUR


def page(hours_ago: Hours, *, more: bool = True) -> ArchivePage:
    """Give a page of ads that were last shown so many hours ago, or nobody knows when."""
    ads = [
        an_ad(number, last_shown=None if age is None else at(age))
        for number, age in enumerate(hours_ago)
    ]
    return a_page(*ads, next_cursor="more" if more else None)


def job(until: int | None, kind: JobKind = JobKind.WALK, **checkpoint: object) -> Job:
    """Give a walk that may stop at ads shown before so many hours ago."""
    mark = None if until is None else at(until)
    return a_job(kind=kind, checkpoint=replace(Checkpoint(until=mark), **checkpoint))  # type: ignore[arg-type]


def in_order(hours_ago: Hours) -> Hours:
    """Sort the known times newest first and leave the unknown ones where they are."""
    known = iter(sorted(age for age in hours_ago if age is not None))
    return [None if age is None else next(known) for age in hours_ago]


@given(hours, kinds)
def test_a_walk_without_a_mark_ends_where_the_archive_ends(ages: Hours, kind: JobKind) -> None:
    assert not behind(job(None, kind), page(ages)).ended
    assert behind(job(None, kind), page(ages, more=False)).ended


@given(hours, ages, kinds)
def test_a_walk_in_order_ends_at_the_first_ad_strictly_older_than_its_mark(
    shown: Hours, until: int, kind: JobKind
) -> None:
    checkpoint = behind(job(until, kind), page(in_order(shown)))

    assert checkpoint.in_order
    assert checkpoint.until == at(until)
    assert checkpoint.ended == any(age is not None and age > until for age in shown)


@given(hours, ages, kinds)
def test_a_page_out_of_order_takes_the_mark_away(shown: Hours, until: int, kind: JobKind) -> None:
    oldest_first = in_order(shown)[::-1]
    disordered = len({age for age in shown if age is not None}) > 1

    checkpoint = behind(job(until, kind), page(oldest_first))

    assert checkpoint.in_order is not disordered
    assert goes_to_its_end(job(until, kind), checkpoint) is disordered
    if disordered:
        assert (checkpoint.until, checkpoint.ended) == (None, False)


@given(hours, ages)
def test_a_page_newer_than_the_one_before_is_out_of_order(shown: Hours, oldest: int) -> None:
    newest = min((age for age in shown if age is not None), default=None)

    checkpoint = behind(job(90, oldest=at(oldest)), page(in_order(shown)))

    assert checkpoint.in_order is (newest is None or newest >= oldest)


@given(hours, ages)
def test_an_end_before_the_mark_means_that_everything_was_read(shown: Hours, until: int) -> None:
    ordered = page(in_order(shown), more=False)
    arrived = any(age is not None and age > until for age in shown)

    walk = behind(job(until), ordered)
    top_up = behind(job(until, JobKind.TOP_UP), ordered)

    assert walk.ended
    assert goes_to_its_end(job(until), walk) is not arrived
    assert not goes_to_its_end(job(until, JobKind.TOP_UP), top_up)
    assert top_up.until == at(until)


@given(st.lists(hours, min_size=1, max_size=5))
def test_newest_is_of_the_first_page_and_oldest_of_the_last_one_with_times(
    pages: list[Hours],
) -> None:
    walked = job(None)
    for shown in pages:
        walked = walked.advanced(behind(walked, page(shown)))

    first = [age for age in pages[0] if age is not None]
    known = [[age for age in shown if age is not None] for shown in pages]
    last = [shown for shown in known if shown]
    assert walked.checkpoint.newest == (at(min(first)) if first else None)
    assert walked.checkpoint.oldest == (at(max(last[-1])) if last else None)


@pytest.mark.parametrize(
    ("before", "shown", "kept"),
    [
        (None, [], True),
        (5, [], True),
        (None, [1, 1, 2], True),  # ties are in order
        (2, [2, 3], True),
        (3, [2, 4], False),  # newer than the page before
        (None, [2, 1], False),
    ],
)
def test_order_is_newest_first_across_pages(
    before: int | None, shown: list[int], *, kept: bool
) -> None:
    times = [at(age) for age in shown]

    assert keeps_order(None if before is None else at(before), times) is kept
