"""What is concluded from where a walk ended: which kind of fetch it was, what was not seen."""

from ppcfetch.adapters.database.closing import MOST_TOP_UPS
from ppcfetch.model.ad import ArchivePage
from ppcfetch.model.fetch import Fetch, FetchKind, FetchState, Reach
from ppcfetch.model.job import JobKind
from ppcfetch.model.outcome import Dead
from tests.contract.database_rig import Rig
from tests.contract.test_walks import (
    DAY,
    HOUR,
    MANY,
    NOON,
    begin,
    fetch_of,
    let_in,
    page,
    read_whole,
    shown,
)

CLOSE = Reach(overlap=HOUR)


def refresh(database: Rig, *pages: ArchivePage) -> Fetch:
    """Refresh the shop's domain by one walk."""
    lease = begin(database, reach=CLOSE)
    assert fetch_of(database, lease).kind is FetchKind.REFRESH
    for each in pages:
        lease = database.step(lease, each)
    return fetch_of(database, lease)


def test_a_refresh_that_meets_the_end_before_its_mark_was_a_full_walk(database: Rig) -> None:
    read_whole(database, *(shown(n, n) for n in range(1, MANY)))
    database.passes(10 * DAY)

    done = refresh(database, page(shown(1, 0), shown(2, 0.5)))

    assert (done.state, done.kind, done.unseen) == (FetchState.DONE, FetchKind.FULL, MANY - 3)
    later = begin(database, reach=Reach(full_every=5 * DAY))
    assert fetch_of(database, later).kind is FetchKind.REFRESH


def test_a_refresh_that_is_answered_with_nothing_is_flagged_and_blanks_nothing(
    database: Rig,
) -> None:
    read_whole(database, *(shown(n, n) for n in range(MANY)))

    empty = refresh(database, page())
    found_again = begin(database)

    assert (empty.state, empty.shrunk, empty.unseen) == (FetchState.DONE, True, None)
    assert fetch_of(database, found_again).kind is FetchKind.FULL
    database.step(found_again, page(*(shown(n, n) for n in range(MANY))))
    whole = fetch_of(database, found_again)
    assert (whole.new, whole.found, whole.unseen, whole.shrunk) == (0, MANY, 0, False)


def test_a_small_domain_may_become_empty(database: Rig) -> None:
    read_whole(database, shown(1, 1), shown(2, 2))

    empty = refresh(database, page())

    assert (empty.state, empty.shrunk, empty.unseen) == (FetchState.DONE, False, 2)


def test_after_a_walk_out_of_order_nobody_knows_what_was_not_seen(database: Rig) -> None:
    read_whole(database, *(shown(n, n) for n in range(1, MANY)))

    done = refresh(database, page(shown(2, 2), shown(1, 1), more=True), page(shown(3, 3)))

    assert (done.state, done.in_order, done.unseen) == (FetchState.DONE, False, None)
    assert database.due.admit() == []


def test_a_refresh_of_several_pages_is_topped_up_to_where_it_began(database: Rig) -> None:
    read_whole(database, *(shown(n, n) for n in range(1, MANY)))
    walk = begin(database, reach=CLOSE)
    walk = database.step(walk, page(shown(4, 0.1), shown(5, 0.2), more=True))
    walk = database.step(walk, page(shown(1, 1), shown(3, 3), more=True))

    [top_up] = let_in(database)
    database.step(top_up, page(shown(6, 0), shown(4, 0.1), shown(5, 0.2), more=True))

    done = fetch_of(database, walk)
    assert top_up.job.kind is JobKind.TOP_UP
    assert top_up.job.checkpoint.until == NOON - 0.1 * HOUR
    assert (done.state, done.kind, done.pages, done.found) == (
        FetchState.DONE, FetchKind.REFRESH, 3, 5,
    )  # fmt: skip
    assert fetch_of(database, begin(database, reach=CLOSE)).until == NOON - 1.1 * HOUR


def test_a_top_up_that_meets_the_end_leaves_the_refresh_a_refresh(database: Rig) -> None:
    read_whole(database, *(shown(n, n) for n in range(1, MANY)))
    walk = begin(database, reach=CLOSE)
    walk = database.step(walk, page(shown(4, 0.1), more=True))
    walk = database.step(walk, page(shown(3, 3), more=True))
    [top_up] = let_in(database)

    database.step(top_up, page(shown(4, 0.1)))

    done = fetch_of(database, walk)
    assert (done.state, done.kind, done.unseen) == (
        FetchState.DONE, FetchKind.REFRESH, None,
    )  # fmt: skip


def test_a_fetch_that_failed_moves_no_mark(database: Rig) -> None:
    read_whole(database, *(shown(n, n) for n in range(1, MANY)))
    walk = begin(database, reach=CLOSE)
    walk = database.step(walk, page(shown(4, 0.1), more=True))

    database.jobs.settle([(walk, Dead("400"))])

    assert fetch_of(database, begin(database, reach=CLOSE)).until == NOON - 2 * HOUR


def test_a_top_up_whose_answer_was_lost_is_made_once(database: Rig) -> None:
    walk = database.step(begin(database), page(shown(1, 1), more=True))

    database.step(walk, page(shown(3, 3)))
    repeated = database.step(walk, page(shown(3, 3)))

    assert fetch_of(database, repeated).state is FetchState.ACTIVE
    assert len(let_in(database)) == 1


def test_an_answer_of_a_twentieth_is_flagged_like_an_empty_one(database: Rig) -> None:
    read_whole(database, *(shown(n, n) for n in range(MANY)))

    one_left = refresh(database, page(shown(1, 0)))

    assert (one_left.found, one_left.shrunk, one_left.unseen) == (1, True, None)


def test_after_as_many_top_ups_as_there_may_be_nobody_knows_what_was_not_seen(
    database: Rig,
) -> None:
    walk = database.step(begin(database), page(shown(1, 100), shown(2, 101), more=True))
    database.step(walk, page(shown(3, 102)))

    for number in range(MOST_TOP_UPS):
        [top_up] = let_in(database)
        hours_ago = 99 - number
        top_up = database.step(top_up, page(shown(10 + number, hours_ago), more=True))
        database.step(top_up, page(shown(1, 200)))

    done = fetch_of(database, walk)
    assert (done.state, done.top_ups) == (FetchState.DONE, MOST_TOP_UPS)
    assert done.kind is FetchKind.FULL
    assert done.unseen is None
