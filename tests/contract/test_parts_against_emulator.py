"""Walks in parts against the emulator: whatever its filters mean, the parts lose no ad."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppcfetch.model.ad import Query
from ppcfetch.model.domain import DomainName
from ppcfetch.usecases.ask_archive import Asking
from ppcfetch.usecases.split import split
from tests.builders import a_job
from tests.emulated_archive import EmulatedArchive, FreePace, LoneRun
from tests.stage import StageClock

AT = 20_000
WINDOWS = ("shown", "last_shown")


def parts_of(archive: EmulatedArchive, query: Query, at: int) -> tuple[Query, ...]:
    """The parts into which a worker would split a query, at its first page."""
    asking = Asking(archive, FreePace(), StageClock(), timedelta(seconds=60))
    steps = split(LoneRun(a_job(query=query)), archive.page(query, None), asking=asking, at=at)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            parts: tuple[Query, ...] = end.value
            return parts


def leaves(archive: EmulatedArchive, query: Query, at: int) -> Iterator[Query]:
    """The queries that are walked to their end once every part has decided for itself."""
    parts = parts_of(archive, query, at)
    if not parts:
        yield query
    for part in parts:
        yield from leaves(archive, part, at)


def whole(ads: int) -> Query:
    return Query(DomainName(f"ads-{ads}.example"))


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("ads", [0, 1, 99, 100, 19_999])
def test_a_small_domain_is_not_split_and_costs_no_call(ads: int, window: str) -> None:
    archive = EmulatedArchive(date_window=window)

    parts = parts_of(archive, whole(ads), AT)

    assert parts == ()
    assert len(archive.asked) == 1


@pytest.mark.parametrize(
    ("ads", "behaviour", "walks"),
    [
        (20_000, {"date_window": "shown"}, range(3, 4)),
        (20_000, {"date_window": "last_shown"}, range(3, 4)),
        (200_000, {"date_window": "shown"}, range(3, 4)),
        (200_000, {"date_window": "last_shown"}, range(12, 25)),
        (200_000, {"date_window": "last_shown", "date_reach_days": 365}, range(3, 4)),
        (2_000_000, {"date_window": "shown"}, range(3, 4)),
        (2_000_000, {"date_window": "last_shown"}, range(100, 250)),
        (2_000_000, {"date_window": "last_shown", "date_reach_days": 200}, range(3, 4)),
        (2_000_000, {"date_window": "last_shown", "date_reach_days": 365}, range(100, 250)),
    ],
)
def test_parts_together_are_the_whole_and_disjoint(
    ads: int, behaviour: dict[str, Any], walks: range
) -> None:
    archive = EmulatedArchive(**behaviour)

    queries = list(leaves(archive, whole(ads), AT))

    found = [index for query in queries for index in archive.indices(query)]
    assert len(found) == len(set(found)) == ads
    assert len(queries) in walks
    # What is asked for to find that out: a small share of the pages of the walk.
    assert len(archive.asked) <= 40 + ads / 100 / 8


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
@given(
    seed=st.integers(1, 10**6),
    ads=st.integers(100, 40_000),
    share=st.integers(2, 30),
    window=st.sampled_from(WINDOWS),
    reach=st.one_of(st.none(), st.integers(1, 700)),
    named=st.sampled_from([None, None, None, "odd-lots.example"]),
)
def test_no_filter_of_the_archive_makes_parts_lose_an_ad(
    *, seed: int, ads: int, share: int, window: str, reach: int | None, named: str | None
) -> None:
    """Any company, any threshold: never loss; and no ad twice where windows part ads."""
    archive = EmulatedArchive(seed, date_window=window, date_reach_days=reach)
    query = whole(ads) if named is None else Query(DomainName(named))

    queries = list(leaves(archive, query, max(100, ads // share)))

    found = [index for one in queries for index in archive.indices(one)]
    assert set(found) == set(archive.indices(query))
    assert len(found) == len(set(found)) or window == "shown"


def test_ads_shown_again_meanwhile_move_to_the_top_and_no_further() -> None:
    """While it is split, ads leave their windows; those that stay are in exactly one part."""
    archive = EmulatedArchive(date_window="last_shown", churn_per_page=5)
    query = whole(20_500)

    queries = list(leaves(archive, query, 1_000))

    bumped = set(archive.calls.archive.book.of(portfolio(archive, query)).latest)
    found = [index for one in queries for index in archive.indices(one) if index not in bumped]
    assert bumped
    assert len(queries) > 10
    assert sorted(found) == [n for n in range(20_500) if n not in bumped]


def portfolio(archive: EmulatedArchive, query: Query) -> Any:
    return archive.calls.archive.catalogue.portfolio(query.domain.name)
