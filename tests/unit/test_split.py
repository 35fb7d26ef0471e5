"""A huge walk is split where that loses nothing, and walked as it is everywhere else."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from ppcfetch.errors import (
    ArchiveChanged,
    ArchiveRejected,
    ArchiveThrottled,
    ArchiveUnavailable,
    LeaseLost,
)
from ppcfetch.model.ad import AdFormat, Query
from ppcfetch.usecases.ask_archive import Asking
from ppcfetch.usecases.split import split
from tests.builders import BLUEBIRD, NOON, a_job, an_ad
from tests.emulated_archive import FreePace, LoneRun
from tests.shelf import (
    Shelf,
    Window,
    a_shelf,
    found,
    held,
    last_shown_inside,
    nothing_before_may,
    nothing_since_summer,
    shown_on_any_day,
    shown_only_inside,
)
from tests.stage import StageClock

DAY = timedelta(days=1)
TEXT = Query(BLUEBIRD, AdFormat.TEXT)


class Splitting:
    """One run of `split`, step by step."""

    def __init__(
        self, shelf: Shelf, query: Query, *, at: int = 30, error: str | None = None
    ) -> None:
        self.clock = StageClock()
        self.pace = FreePace()
        self.run = LoneRun(a_job(query=query, error=error))
        self.page = shelf.page(query, None)
        shelf.asked.clear()
        asking = Asking(shelf, self.pace, self.clock, timedelta(seconds=60))
        self.steps = split(self.run, self.page, asking=asking, at=at)

    def parts(self) -> tuple[Query, ...]:
        """Go on to the end."""
        while True:
            try:
                next(self.steps)
            except StopIteration as end:
                parts: tuple[Query, ...] = end.value
                return parts


def test_a_huge_domain_is_parted_by_format_first() -> None:
    shelf = a_shelf()

    parts = Splitting(shelf, Query(BLUEBIRD)).parts()

    assert [part.format for part in parts] == [AdFormat.TEXT, AdFormat.IMAGE, AdFormat.VIDEO]
    assert sorted(found(shelf, parts)) == held(shelf, Query(BLUEBIRD))


def test_a_huge_format_is_parted_by_when_its_ads_were_last_shown() -> None:
    shelf = a_shelf()

    parts = Splitting(shelf, TEXT).parts()

    assert len(parts) == 2
    assert {part.format for part in parts} == {AdFormat.TEXT}
    assert sorted(found(shelf, parts)) == held(shelf, TEXT)
    assert all(24 <= len(held(shelf, part)) <= 56 for part in parts)


def test_a_part_is_parted_again_without_proving_everything_again() -> None:
    shelf = a_shelf()
    splitting = Splitting(shelf, TEXT)
    newer, older = splitting.parts()
    first = len(shelf.asked)

    again = Splitting(shelf, older, at=20).parts()

    assert len(again) == 2
    assert sorted(found(shelf, [newer, *again])) == held(shelf, TEXT)
    assert len(shelf.asked) < first


def test_a_small_walk_is_not_split_and_asks_nothing() -> None:
    shelf = a_shelf()

    parts = Splitting(shelf, TEXT, at=81).parts()

    assert parts == ()
    assert shelf.asked == []


def test_formats_that_are_not_kept_apart_are_not_used() -> None:
    """Every part would be the whole domain; dates still part it."""
    shelf = a_shelf(keeps_format=False)

    parts = Splitting(shelf, Query(BLUEBIRD)).parts()

    assert [part.format for part in parts] == [None, None]
    assert sorted(found(shelf, parts)) == held(shelf, Query(BLUEBIRD))


def test_an_ad_of_an_unknown_format_leaves_formats_alone() -> None:
    """No filter would find it."""
    shelf = a_shelf()
    shelf.ads = [an_ad(999, format=AdFormat.UNKNOWN, last_shown=NOON), *shelf.ads[1:]]

    parts = Splitting(shelf, Query(BLUEBIRD)).parts()

    assert [part.format for part in parts] == [None, None]
    assert sorted(found(shelf, parts)) == held(shelf, Query(BLUEBIRD))


def without_dates(shelf: Shelf) -> None:
    shelf.ads = [an_ad(n, last_shown=None) for n, _ in enumerate(shelf.ads)]


def out_of_order(shelf: Shelf) -> None:
    shelf.ads = list(reversed(shelf.ads))


def all_on_one_day(shelf: Shelf) -> None:
    shelf.ads = [an_ad(n, last_shown=NOON) for n, _ in enumerate(shelf.ads)]


def undated_on_top(shelf: Shelf) -> None:
    shelf.ads = [an_ad(999, last_shown=None), *shelf.ads]


def cursors_of_their_own(shelf: Shelf) -> None:
    def fail(query: Query, cursor: str | None) -> None:
        if cursor is not None and query.first_day is None:
            raise ArchiveRejected("400")

    shelf.fail = fail


def many_old(shelf: Shelf) -> None:
    old = [an_ad(1_000 + n, last_shown=NOON - 240 * DAY) for n in range(200)]
    shelf.ads = [*shelf.ads, *old]


def large_oldest_day(shelf: Shelf) -> None:
    huge_oldest_day(shelf, 300)


def huge_oldest_day(shelf: Shelf, ads: int = 2_100) -> None:
    old = [an_ad(1_000 + n, last_shown=NOON - 240 * DAY) for n in range(ads)]
    new = [an_ad(9_000 + n, last_shown=NOON - 10 * DAY) for n in range(ads)]
    shelf.ads = [*new, *old]


@pytest.mark.parametrize(
    ("window", "change"),
    [
        pytest.param(shown_on_any_day, None, id="windows overlap"),
        pytest.param(shown_only_inside, None, id="windows lose what crosses their border"),
        pytest.param(nothing_before_may, None, id="windows do not reach back"),
        pytest.param(nothing_since_summer, None, id="windows lose what is new"),
        pytest.param(nothing_before_may, many_old, id="windows lose many"),
        pytest.param(last_shown_inside, without_dates, id="no dates"),
        pytest.param(last_shown_inside, out_of_order, id="no order"),
        pytest.param(last_shown_inside, all_on_one_day, id="one day"),
        pytest.param(last_shown_inside, undated_on_top, id="windows lose ads without dates"),
        pytest.param(last_shown_inside, cursors_of_their_own, id="a cursor is no place"),
        pytest.param(last_shown_inside, huge_oldest_day, id="the oldest day is huge"),
        pytest.param(last_shown_inside, large_oldest_day, id="the end is too many pages away"),
    ],
)
def test_dates_do_not_part_a_walk_where(
    window: Window, change: Callable[[Shelf], None] | None
) -> None:
    """What cannot be proven is not relied on: one walk reads it all."""
    shelf = a_shelf(window)
    if change is not None:
        change(shelf)

    parts = Splitting(shelf, TEXT).parts()

    assert parts == ()


def test_an_error_while_it_is_looked_at_is_tried_again_once_and_then_walked_as_it_is() -> None:
    shelf = a_shelf()
    first, second = Splitting(shelf, TEXT), Splitting(shelf, TEXT, error="503")

    def fail(_query: Query, _cursor: str | None) -> None:
        raise ArchiveUnavailable("503")

    shelf.fail = fail

    with pytest.raises(ArchiveUnavailable):
        first.parts()
    assert second.parts() == ()
    assert first.pace.told == second.pace.told == ["ArchiveUnavailable"]


def test_an_answer_that_nobody_understands_costs_the_split_and_not_the_walk() -> None:
    shelf = a_shelf()
    splitting = Splitting(shelf, TEXT)

    def fail(_query: Query, _cursor: str | None) -> None:
        raise ArchiveChanged("strange", field="1")

    shelf.fail = fail

    assert splitting.parts() == ()


def test_an_open_breaker_rests_the_job_once_and_then_it_is_walked_as_it_is() -> None:
    shelf = a_shelf()
    first, second = Splitting(shelf, TEXT), Splitting(shelf, TEXT, error="rests for 30 s")
    first.pace.rest = second.pace.rest = timedelta(seconds=30)

    def fail(_query: Query, _cursor: str | None) -> None:
        raise ArchiveUnavailable("503")

    shelf.fail = fail

    with pytest.raises(ArchiveThrottled):
        first.parts()
    assert second.parts() == ()


def test_where_calls_are_scarce_a_walk_is_not_split() -> None:
    """Many walks would be no faster than one, and looking shows no progress."""
    shelf = a_shelf()
    splitting = Splitting(shelf, TEXT)
    splitting.pace.waits = ([timedelta(seconds=1)] * 28 + [timedelta(0)]) * 20

    parts = splitting.parts()

    assert parts == ()
    assert len(shelf.asked) < 9


def test_a_lost_lease_ends_it() -> None:
    shelf = a_shelf()
    splitting = Splitting(shelf, TEXT)
    splitting.run.is_lost = True

    with pytest.raises(LeaseLost):
        splitting.parts()
    assert shelf.asked == []
