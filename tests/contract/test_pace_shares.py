"""Whose the pace is when there is not enough of it: shares of pools, and of several egresses."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest

from ppcfetch.errors import ArchiveBlocked, ArchiveThrottled, ArchiveUnavailable, ProxyFailed
from ppcfetch.model.egress import Permit
from ppcfetch.model.job import Pool
from ppcfetch.ports import Pace
from tests.contract.conftest import REAL, URLS
from tests.contract.pace_rig import FakePaceRig, PaceRig, RealPaceRig, wait_of

NO_WAIT = timedelta(0)
SECOND = timedelta(seconds=1)
INTERACTIVE, BULK = Pool.INTERACTIVE, Pool.BULK
SLOW = 0.01
"""Calls a second that a test cannot outlast by being slow itself."""
TURNS = 40
LOOKS = 5
"""How often everybody asks in the time of one call: nobody sleeps through his turn."""
ONE, TWO, THREE = "one:1", "two:2", "three:3"
ALL = (ONE, TWO, THREE)


@pytest.fixture(params=["fake", *REAL])
def rig(request: pytest.FixtureRequest) -> Iterator[PaceRig]:
    """Workers that share their egresses."""
    if request.param == "fake":
        yield FakePaceRig()
        return
    real = RealPaceRig(request.getfixturevalue(URLS[request.param]))
    yield real
    real.close()


def used(pace: Pace, pool: Pool, *, tries: int) -> list[str]:
    """The egresses of so many questions in a row that were allowed."""
    leaves = [pace.ask(pool) for _ in range(tries)]
    return [leave.egress for leave in leaves if isinstance(leave, Permit)]


def saturate(rig: PaceRig, *pools: Pool) -> Counter[Pool]:
    """Let pools ask as often as they may, in this order each time, while so many calls come."""
    pace = rig.worker(SLOW)
    for pool in Pool:
        used(pace, pool, tries=5)
    answered: Counter[Pool] = Counter()
    for _ in range(TURNS * LOOKS):
        rig.advance(100 * SECOND / LOOKS)
        answered.update(pool for pool in pools for _ in used(pace, pool, tries=3))
    return answered


def test_bulk_has_a_tenth_while_those_who_wait_would_take_all(rig: PaceRig) -> None:
    answered = saturate(rig, INTERACTIVE, BULK)

    assert answered[BULK] == pytest.approx(TURNS / 10, abs=2)
    assert answered[INTERACTIVE] == pytest.approx(TURNS * 9 / 10, abs=2)


def test_what_bulk_leaves_of_its_share_is_theirs_who_wait(rig: PaceRig) -> None:
    answered = saturate(rig, INTERACTIVE)

    assert answered[INTERACTIVE] == pytest.approx(TURNS, abs=3)


def test_bulk_alone_has_the_whole_pace(rig: PaceRig) -> None:
    answered = saturate(rig, BULK)

    # Its bucket is full whenever it may take: what comes until it asks is lost.
    assert answered[BULK] == pytest.approx(TURNS, rel=0.15)


def test_the_wait_that_bulk_is_told_is_enough(rig: PaceRig) -> None:
    pace = rig.worker(SLOW)
    used(pace, INTERACTIVE, tries=5)
    used(pace, BULK, tries=5)
    told = wait_of(pace, BULK)

    rig.advance(told)

    assert told > NO_WAIT
    assert wait_of(pace, BULK) == NO_WAIT


def test_each_egress_has_a_pace_of_its_own(rig: PaceRig) -> None:
    pace = rig.worker(SLOW, *ALL)

    assert sorted(used(pace, INTERACTIVE, tries=10)) == sorted(ALL)


def test_over_all_egresses_the_wait_is_that_for_the_first(rig: PaceRig) -> None:
    pace = rig.worker(SLOW, *ALL)
    used(pace, INTERACTIVE, tries=2)
    rig.advance(50 * SECOND)
    used(pace, INTERACTIVE, tries=1)

    assert 45 * SECOND < wait_of(pace, INTERACTIVE) <= 60 * SECOND


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ArchiveThrottled("429"), id="throttled"),
        pytest.param(ArchiveBlocked("captcha"), id="blocked"),
        pytest.param(ProxyFailed("407"), id="broken"),
    ],
)
def test_a_failed_egress_is_used_by_nobody_while_the_others_go_on(
    rig: PaceRig, error: ArchiveThrottled | ArchiveBlocked
) -> None:
    told, other = rig.worker(None, *ALL), rig.worker(None, *ALL)

    rest = told.went_badly(Permit(TWO), error)

    assert rest == NO_WAIT
    assert TWO not in used(told, INTERACTIVE, tries=30)
    assert TWO not in used(other, BULK, tries=30)


def test_when_all_egresses_rest_the_first_that_is_free_decides(rig: PaceRig) -> None:
    pace = rig.worker(None, *ALL)

    rests = [
        pace.went_badly(Permit(name), ArchiveThrottled("429", retry_after=length * SECOND))
        for name, length in zip(ALL, (300, 100, 200), strict=True)
    ]

    assert rests[:2] == [NO_WAIT, NO_WAIT]
    assert rests[2] is not None
    assert 95 * SECOND < rests[2] <= 100 * SECOND
    assert 95 * SECOND < wait_of(rig.worker(None, *ALL), INTERACTIVE) <= 100 * SECOND


def test_behind_its_rest_an_egress_is_tried_first_and_by_one_call(rig: PaceRig) -> None:
    pace = rig.worker(SLOW, *ALL)
    pace.went_badly(Permit(THREE), ProxyFailed("refused"))
    rig.advance(500 * SECOND)

    first = used(pace, INTERACTIVE, tries=1)
    others = used(pace, INTERACTIVE, tries=10)
    pace.went_well(Permit(THREE))
    rig.advance(112 * SECOND)

    assert first == [THREE]
    assert THREE not in others
    assert THREE in used(pace, INTERACTIVE, tries=10)


def test_a_throttled_egress_slows_no_other(rig: PaceRig) -> None:
    pace = rig.worker(SLOW, ONE, TWO)
    used(pace, INTERACTIVE, tries=5)
    pace.went_badly(Permit(ONE), ArchiveThrottled("429"))
    rig.advance(6 * SECOND)
    used(pace, INTERACTIVE, tries=5)
    pace.went_well(Permit(ONE))

    rig.advance(112 * SECOND)

    assert used(pace, INTERACTIVE, tries=5) == [TWO]


def test_a_broken_proxy_is_not_made_slower(rig: PaceRig) -> None:
    pace = rig.worker(SLOW, ONE)
    used(pace, INTERACTIVE, tries=5)
    pace.went_badly(Permit(ONE), ProxyFailed("refused"))
    rig.advance(100 * SECOND)
    used(pace, INTERACTIVE, tries=1)
    pace.went_well(Permit(ONE))

    assert wait_of(pace, INTERACTIVE) <= 100 * SECOND


def test_an_archive_that_is_away_is_noticed_before_every_egress_was_tried_five_times(
    rig: PaceRig,
) -> None:
    pace = rig.worker(None, *ALL)

    rests = [
        pace.went_badly(Permit(name), ArchiveUnavailable("no answer"))
        for name in (ONE, TWO, THREE, ONE, TWO, THREE, ONE)
    ]

    assert rests[:4] == [None] * 4
    assert rests[4:6] == [NO_WAIT, NO_WAIT]
    assert rests[6] is not None
    assert NO_WAIT < rests[6] <= 2 * SECOND


def test_an_answer_over_any_egress_shows_that_the_archive_is_there(rig: PaceRig) -> None:
    pace = rig.worker(None, ONE, TWO)
    for name in (ONE, TWO, ONE, TWO):
        pace.went_badly(Permit(name), ArchiveUnavailable("no answer"))

    pace.went_well(Permit(TWO))

    assert pace.went_badly(Permit(ONE), ArchiveUnavailable("no answer")) is None
