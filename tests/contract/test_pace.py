"""The pace shared by all workers of an egress, and its breaker."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from ppcfetch.errors import ArchiveBlocked, ArchiveThrottled, ArchiveUnavailable, Retryable
from ppcfetch.model.job import Pool
from ppcfetch.ports import Pace
from tests.contract.conftest import REAL, URLS
from tests.contract.pace_rig import LEAVE, FakePaceRig, PaceRig, RealPaceRig, wait_of

NO_WAIT = timedelta(0)
SECOND = timedelta(seconds=1)
INTERACTIVE, BULK = Pool.INTERACTIVE, Pool.BULK
SLOW = 0.01
"""Calls a second that a test cannot outlast by being slow itself."""


@pytest.fixture(params=["fake", *REAL])
def rig(request: pytest.FixtureRequest) -> Iterator[PaceRig]:
    """Workers of one egress."""
    if request.param == "fake":
        yield FakePaceRig()
        return
    real = RealPaceRig(request.getfixturevalue(URLS[request.param]))
    yield real
    real.close()


def granted(pace: Pace, pool: Pool, *, tries: int) -> int:
    """How many of so many questions in a row were allowed."""
    return sum(wait_of(pace, pool) == NO_WAIT for _ in range(tries))


def fail(pace: Pace, times: int) -> timedelta | None:
    """Report unanswered calls; gives the last answer."""
    answers = [pace.went_badly(LEAVE, ArchiveUnavailable("no answer")) for _ in range(times)]
    return answers[-1]


def test_without_a_limit_everybody_may_always_ask(rig: PaceRig) -> None:
    assert granted(rig.worker(None), BULK, tries=200) == 200


def test_a_new_bucket_allows_one_call_and_no_burst(rig: PaceRig) -> None:
    pace = rig.worker(SLOW)

    assert wait_of(pace, INTERACTIVE) == NO_WAIT
    assert 90 * SECOND < wait_of(pace, INTERACTIVE) <= 100 * SECOND


def test_the_wait_that_is_told_is_enough(rig: PaceRig) -> None:
    pace = rig.worker(SLOW)
    wait_of(pace, INTERACTIVE)

    rig.advance(wait_of(pace, INTERACTIVE))

    assert wait_of(pace, INTERACTIVE) == NO_WAIT


def test_asking_too_early_counts_nothing(rig: PaceRig) -> None:
    pace = rig.worker(SLOW)
    granted(pace, INTERACTIVE, tries=50)

    assert wait_of(pace, INTERACTIVE) <= 100 * SECOND


def test_all_workers_share_one_rate(rig: PaceRig) -> None:
    workers = [rig.worker(SLOW) for _ in range(3)]
    rig.advance(150 * SECOND)

    allowed = [granted(pace, INTERACTIVE, tries=3) for pace in workers]

    assert sum(allowed) <= 2


def test_a_long_quiet_time_saves_up_no_more_than_a_short_burst(rig: PaceRig) -> None:
    pace = rig.worker(SLOW)
    wait_of(pace, INTERACTIVE)
    rig.advance(timedelta(days=3))

    assert granted(pace, INTERACTIVE, tries=10) == 2


def test_bulk_leaves_a_reserve_to_those_who_wait(rig: PaceRig) -> None:
    pace = rig.worker(SLOW)
    wait_of(pace, INTERACTIVE)
    rig.advance(timedelta(days=3))

    assert granted(pace, BULK, tries=10) == 2  # what is kept for it, and one above the reserve
    assert granted(pace, INTERACTIVE, tries=10) == 1


def test_a_throttled_call_rests_every_worker(rig: PaceRig) -> None:
    told, other = rig.worker(None), rig.worker(None)

    rest = told.went_badly(LEAVE, ArchiveThrottled("429"))

    assert rest is not None
    assert 4 * SECOND < rest <= 5 * SECOND
    assert 4 * SECOND < wait_of(other, INTERACTIVE) <= 5 * SECOND


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ArchiveThrottled("429", retry_after=timedelta(hours=1)), id="throttled"),
        pytest.param(ArchiveBlocked("captcha", retry_after=timedelta(hours=1)), id="blocked"),
        pytest.param(ArchiveUnavailable("503", retry_after=timedelta(hours=1)), id="away"),
    ],
)
def test_nobody_calls_before_the_archive_said_so(rig: PaceRig, error: Retryable) -> None:
    told, other = rig.worker(None), rig.worker(None)

    rest = told.went_badly(LEAVE, error)
    rig.advance(timedelta(minutes=58))

    assert rest is not None
    assert rest > timedelta(minutes=59)
    assert wait_of(other, INTERACTIVE) > SECOND


def test_no_archive_can_send_us_away_for_ever(rig: PaceRig) -> None:
    rest = rig.worker(None).went_badly(
        LEAVE, ArchiveThrottled("429", retry_after=timedelta(days=9999))
    )

    assert rest is not None
    assert rest <= timedelta(days=1)


def test_calls_that_were_under_way_together_rest_the_egress_once(rig: PaceRig) -> None:
    pace = rig.worker(None)

    rests = [pace.went_badly(LEAVE, ArchiveThrottled("429")) for _ in range(20)]

    assert all(rest is not None and rest <= 5 * SECOND for rest in rests)


def test_rests_double_until_they_are_long_enough(rig: PaceRig) -> None:
    pace, rests = rig.worker(None), list[float]()

    for _ in range(8):
        rest = pace.went_badly(LEAVE, ArchiveThrottled("429"))
        assert rest is not None
        rests.append(round(rest.total_seconds()))
        rig.advance(rest + SECOND)

    assert rests == [5, 10, 20, 40, 80, 160, 180, 180]


def test_behind_a_rest_one_call_tries_for_all(rig: PaceRig) -> None:
    first, second = rig.worker(None), rig.worker(None)
    fail(first, 5)
    rig.advance(3 * SECOND)

    tried, waiting = wait_of(first, INTERACTIVE), wait_of(second, INTERACTIVE)
    first.went_well(LEAVE)

    assert tried == NO_WAIT
    assert waiting > NO_WAIT
    assert wait_of(second, INTERACTIVE) == NO_WAIT


def test_a_trial_that_fails_rests_longer(rig: PaceRig) -> None:
    pace = rig.worker(None)
    fail(pace, 5)
    rig.advance(3 * SECOND)
    wait_of(pace, INTERACTIVE)

    rest = fail(pace, 1)

    assert rest is not None
    assert 3 * SECOND < rest <= 4 * SECOND


def test_a_trial_that_never_ends_is_replaced(rig: PaceRig) -> None:
    dying, other = rig.worker(None), rig.worker(None)
    fail(dying, 5)
    rig.advance(3 * SECOND)
    wait_of(dying, INTERACTIVE)
    rig.advance(31 * SECOND)

    assert wait_of(other, INTERACTIVE) == NO_WAIT


def test_single_failures_rest_nobody_but_five_in_a_row_do(rig: PaceRig) -> None:
    pace = rig.worker(None)

    early = fail(pace, 4)
    still = wait_of(pace, INTERACTIVE)
    late = fail(pace, 1)

    assert (early, still) == (None, NO_WAIT)
    assert late is not None
    assert wait_of(pace, INTERACTIVE) > NO_WAIT


def test_an_answer_between_failures_begins_the_count_anew(rig: PaceRig) -> None:
    pace = rig.worker(None)
    fail(pace, 4)
    wait_of(pace, INTERACTIVE)
    pace.went_well(LEAVE)

    assert fail(pace, 4) is None


def test_the_answer_to_a_call_from_before_does_not_end_a_rest(rig: PaceRig) -> None:
    slow, told = rig.worker(None), rig.worker(None)
    fail(slow, 1)
    wait_of(slow, INTERACTIVE)
    told.went_badly(LEAVE, ArchiveThrottled("429"))

    slow.went_well(LEAVE)

    assert wait_of(rig.worker(None), INTERACTIVE) > NO_WAIT


def test_being_throttled_halves_the_rate_and_answers_give_it_back_slowly(rig: PaceRig) -> None:
    pace = rig.worker(SLOW)
    wait_of(pace, INTERACTIVE)
    pace.went_badly(LEAVE, ArchiveThrottled("429"))
    rig.advance(timedelta(days=1))
    granted(pace, INTERACTIVE, tries=1)
    pace.went_well(LEAVE)
    granted(pace, INTERACTIVE, tries=1)

    halved = wait_of(pace, INTERACTIVE)
    for _ in range(60):
        pace.went_well(LEAVE)
        rig.advance(timedelta(hours=1))
        wait_of(pace, INTERACTIVE)
    granted(pace, INTERACTIVE, tries=1)

    assert 150 * SECOND < halved <= 200 * SECOND
    assert wait_of(pace, INTERACTIVE) <= 100 * SECOND
