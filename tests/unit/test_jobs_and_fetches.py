"""Pure decisions about jobs and fetches."""

from datetime import timedelta

import pytest

from ppcfetch.model.fetch import FetchState, Freshness, outcome_of
from ppcfetch.model.job import ACTIVE, MOVES, Checkpoint, JobState
from ppcfetch.model.lease import Budget
from tests.builders import NOON, a_job

DAY = timedelta(days=1)


def test_only_dead_jobs_come_back_from_an_end() -> None:
    """Done and cancelled are final; dead can be queued again."""
    ends = set(JobState) - ACTIVE

    back = {state for state in ends if MOVES[state]}

    assert back == {JobState.DEAD}
    assert MOVES[JobState.DEAD] == {JobState.QUEUED}
    assert set(MOVES) == set(JobState)


@pytest.mark.parametrize(("length", "before"), [(1, 0), (2, 5), (7, 40), (64, 100)])
def test_a_walk_that_goes_in_circles_is_noticed(length: int, before: int) -> None:
    """Any circle meets the mark within two rounds behind the next power of two."""
    checkpoint = Checkpoint()
    cursors = [f"straight {n}" for n in range(before)]
    limit = 4 * (before + length) + 4

    for page in range(1, limit):
        next_cursor = cursors[page - 1] if page <= before else f"circle {(page - before) % length}"
        if checkpoint.comes_round(next_cursor):
            break
        checkpoint = checkpoint.after(pages=page, next_cursor=next_cursor, oldest=None)
    else:
        pytest.fail("the circle was never noticed")

    assert page > before


def test_a_straight_walk_is_never_called_a_circle() -> None:
    """Cursors that all differ go on for ever."""
    checkpoint = Checkpoint()

    for page in range(1, 500):
        assert not checkpoint.comes_round(f"cursor {page}")
        checkpoint = checkpoint.after(pages=page, next_cursor=f"cursor {page}", oldest=NOON)

    assert not checkpoint.comes_round(None)


def test_progress_forgives_starts_and_attempts() -> None:
    """Poison means starts without progress."""
    job = a_job(starts=4, attempts=7, pages=2)

    advanced = job.advanced(Checkpoint(cursor="next"))

    assert (advanced.starts, advanced.attempts, advanced.pages) == (0, 0, 3)


@pytest.mark.parametrize(
    ("done", "dead", "cancelled", "state"),
    [
        (1, 0, 0, FetchState.DONE),
        (0, 1, 0, FetchState.FAILED),
        (2, 1, 0, FetchState.PARTIAL),
        (2, 1, 1, FetchState.CANCELLED),
        (0, 0, 0, FetchState.DONE),
    ],
)
def test_the_jobs_decide_how_a_fetch_ends(
    done: int, dead: int, cancelled: int, state: FetchState
) -> None:
    """One dead job among done ones makes it partial."""
    assert outcome_of(done, dead, cancelled) is state


@pytest.mark.parametrize(
    ("checked", "attempted", "stale", "asks"),
    [
        (None, None, True, True),
        (NOON - DAY, NOON - DAY, True, True),
        (NOON - DAY / 2, NOON - DAY / 2, False, False),
        # it failed an hour ago: the page must not ask again by itself
        (None, NOON - DAY / 24, True, False),
        (NOON - 2 * DAY, NOON - DAY / 24, True, False),
        (NOON - 2 * DAY, NOON - DAY, True, True),
    ],
)
def test_a_page_asks_by_itself_once_a_window(
    checked: object, attempted: object, *, stale: bool, asks: bool
) -> None:
    """Stale is not enough: nobody may have tried within the window."""
    freshness = Freshness(checked, attempted)  # type: ignore[arg-type]  # from the table above

    assert freshness.is_stale(NOON, DAY) is stale
    assert freshness.asks_by_itself(NOON, DAY) is asks


@pytest.mark.parametrize(
    ("pages", "seconds", "used_up"), [(19, 19.9, False), (20, 0, True), (0, 20, True)]
)
def test_a_budget_is_used_up_by_pages_or_time(pages: int, seconds: float, *, used_up: bool) -> None:
    """Whichever comes first."""
    budget = Budget(pages=20, time=timedelta(seconds=20))

    assert budget.is_used_up(pages=pages, spent=timedelta(seconds=seconds)) is used_up
