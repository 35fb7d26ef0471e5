"""What operators do, on the database in memory and on PostgreSQL: pauses and the audit."""

import pytest

from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Action, Deed
from tests.contract.database_rig import MOMENT, Rig

PAUSE = Deed("ann", Action.PAUSE, "archive is being moved")
RESUME = Deed("bob", Action.RESUME)


def test_a_pool_is_not_paused_unless_somebody_paused_it(database: Rig) -> None:
    assert [database.pauses.pause_of(pool) for pool in Pool] == [None, None]


def test_a_pause_says_since_when_who_and_why_and_is_of_one_pool_alone(database: Rig) -> None:
    assert database.pauses.pause(Pool.BULK, PAUSE)

    pause = database.pauses.pause_of(Pool.BULK)
    assert pause is not None
    assert (pause.pool, pause.by, pause.reason) == (Pool.BULK, "ann", "archive is being moved")
    assert database.pauses.pause_of(Pool.INTERACTIVE) is None


def test_pausing_again_changes_nothing(database: Rig) -> None:
    database.pauses.pause(Pool.BULK, PAUSE)
    before = database.pauses.pause_of(Pool.BULK)
    database.passes(MOMENT)

    assert not database.pauses.pause(Pool.BULK, Deed("bob", Action.PAUSE))

    after = database.pauses.pause_of(Pool.BULK)
    assert before is not None
    assert after is not None
    assert (after.by, after.reason) == (before.by, before.reason)
    assert len(database.audit.about("pool bulk")) == 1


def test_resuming_ends_a_pause_once(database: Rig) -> None:
    database.pauses.pause(Pool.BULK, PAUSE)

    first, second = (database.pauses.resume(Pool.BULK, RESUME) for _ in range(2))

    assert (first, second) == (True, False)
    assert database.pauses.pause_of(Pool.BULK) is None


def test_the_audit_keeps_each_pause_and_each_end_of_one_newest_first(database: Rig) -> None:
    database.pauses.pause(Pool.BULK, PAUSE)
    database.pauses.resume(Pool.BULK, RESUME)
    database.pauses.pause(Pool.INTERACTIVE, Deed("ann", Action.PAUSE))

    kept = database.audit.about("pool bulk")

    assert [noted.deed for noted in kept] == [RESUME, PAUSE]
    assert {noted.target for noted in kept} == {"pool bulk"}
    assert kept[0].at >= kept[1].at


@pytest.mark.parametrize(("count", "kept"), [(1, ["second"]), (5, ["second", "first"])])
def test_the_audit_of_a_target_can_be_cut_short(database: Rig, count: int, kept: list[str]) -> None:
    for reason in ("first", "second"):
        database.audit.note(Deed("ann", Action.REMOVE_CONSUMER, reason), "consumer a")

    assert [one.deed.reason for one in database.audit.about("consumer a", count=count)] == kept
