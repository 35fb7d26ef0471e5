"""How far a fetch walks: to the end, down to a mark, again from the top, in parts."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, Query
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchKind, FetchReason, FetchState, Reach
from ppcfetch.model.job import Job, JobKind, JobState, Pool
from ppcfetch.model.lease import Lease
from ppcfetch.model.outcome import Dead
from ppcfetch.ports import Request
from tests.contract.database_rig import Rig, an_ad

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
SHOP = DomainName("shop.example")
MANY = 30


def shown(number: int, hours_ago: float, **values: object) -> Ad:
    """Give an ad that was last shown so long before noon."""
    return replace(an_ad(number), last_shown=NOON - hours_ago * HOUR, **values)  # type: ignore[arg-type]


def page(*ads: Ad, more: bool = False) -> ArchivePage:
    return ArchivePage(ads, "more" if more else None, None)


def begin(database: Rig, *, pool: Pool = Pool.INTERACTIVE, reach: Reach | None = None) -> Lease:
    """Ask for the shop's domain and lease the job that this makes."""
    request = Request(SHOP, FetchReason.COMMAND, force=True, reach=reach or Reach())
    [(job_id, _)] = database.fetches.request(request).jobs
    return database.lease(job_id, pool=pool)


def let_in(database: Rig, *, pool: Pool = Pool.INTERACTIVE) -> list[Lease]:
    """Lease every job that waits for its turn and has it now."""
    return [database.lease(job_id, pool=pool) for job_id, _ in database.due.admit()]


def fetch_of(database: Rig, lease: Lease) -> Fetch:
    return database.fetches.get(lease.job.fetch_id)


def read_whole(database: Rig, *ads: Ad) -> Fetch:
    """Read a domain of one page to its end."""
    return fetch_of(database, database.step(begin(database), page(*ads)))


def job_of(database: Rig, lease: Lease) -> Job:
    return database.row(lease.job.id)


def test_a_walk_of_one_page_is_a_look_at_one_moment(database: Rig) -> None:
    done = read_whole(database, shown(1, 1), shown(2, 2))

    assert (done.state, done.kind, done.unseen) == (FetchState.DONE, FetchKind.FULL, 0)
    assert database.due.admit() == []


def test_a_longer_walk_is_followed_by_one_from_the_top_to_where_it_began(database: Rig) -> None:
    walk = database.step(begin(database), page(shown(1, 1), shown(2, 2), more=True))
    walk = database.step(walk, page(shown(3, 3)))

    [top_up] = let_in(database)

    assert fetch_of(database, walk).state is FetchState.ACTIVE
    assert (top_up.job.kind, top_up.job.query) == (JobKind.TOP_UP, Query(SHOP))
    assert top_up.job.checkpoint.until == NOON - HOUR


def test_a_top_up_of_one_page_ends_the_fetch_with_what_had_moved(database: Rig) -> None:
    walk = database.step(begin(database), page(shown(1, 1), shown(2, 2), more=True))
    database.step(walk, page(shown(3, 3)))
    [top_up] = let_in(database)

    top_up = database.step(top_up, page(shown(4, 0.5), shown(1, 1), shown(2, 2), more=True))

    done = fetch_of(database, top_up)
    assert (done.state, done.found, done.pages, done.unseen) == (FetchState.DONE, 4, 3, 0)
    assert (done.parts, done.top_ups) == (0, 1)
    assert job_of(database, top_up).state is JobState.DONE


def test_a_top_up_goes_on_while_every_ad_is_newer_than_the_mark(database: Rig) -> None:
    walk = database.step(begin(database), page(shown(1, 1), shown(2, 2), more=True))
    database.step(walk, page(shown(3, 3)))
    [top_up] = let_in(database)

    top_up = database.step(top_up, page(shown(4, 0.1), shown(5, 0.2), more=True))
    assert job_of(database, top_up).state is JobState.RUNNING
    database.step(top_up, page(shown(1, 1), shown(2, 2), more=True))

    [next_one] = let_in(database)
    assert next_one.job.kind is JobKind.TOP_UP
    assert next_one.job.checkpoint.until == NOON - 0.1 * HOUR


def test_a_complete_domain_is_refreshed_down_to_its_mark_and_an_overlap(database: Rig) -> None:
    read_whole(database, shown(1, 1), shown(2, 2))

    refresh = begin(database, reach=Reach(overlap=2 * HOUR))

    asked = fetch_of(database, refresh)
    assert (asked.kind, asked.until) == (FetchKind.REFRESH, NOON - 3 * HOUR)
    assert refresh.job.checkpoint.until == NOON - 3 * HOUR


def test_a_refresh_ends_at_the_first_ad_behind_its_mark(database: Rig) -> None:
    read_whole(database, *(shown(n, n) for n in range(1, MANY)))
    refresh = begin(database, reach=Reach(overlap=2 * HOUR))

    refresh = database.step(refresh, page(shown(90, 0), shown(1, 1), shown(4, 4), more=True))

    done = fetch_of(database, refresh)
    assert (done.state, done.kind, done.new) == (FetchState.DONE, FetchKind.REFRESH, 1)
    assert (done.unseen, done.shrunk) == (None, False)
    assert fetch_of(database, begin(database)).until == NOON - DAY


def test_ads_out_of_order_turn_a_refresh_into_a_full_walk(database: Rig) -> None:
    read_whole(database, shown(1, 1), shown(2, 2))
    refresh = begin(database)

    refresh = database.step(refresh, page(shown(3, 40), shown(1, 1), more=True))

    walked = fetch_of(database, refresh)
    assert (walked.state, walked.kind, walked.in_order) == (
        FetchState.ACTIVE, FetchKind.FULL, False,
    )  # fmt: skip
    assert job_of(database, refresh).checkpoint.until is None
    database.step(refresh, page(shown(2, 50)))
    assert fetch_of(database, refresh).state is FetchState.DONE
    assert fetch_of(database, begin(database)).kind is FetchKind.FULL


def test_a_full_walk_comes_every_so_often_and_when_it_is_asked_for(database: Rig) -> None:
    read_whole(database, shown(1, 1))
    database.passes(10 * DAY)

    old = fetch_of(database, begin(database, reach=Reach(full_every=10 * DAY)))
    database.fetches.cancel(old.id)
    asked = fetch_of(database, begin(database, reach=Reach(full=True)))
    database.fetches.cancel(asked.id)
    young = fetch_of(database, begin(database, reach=Reach(full_every=11 * DAY)))

    assert (old.kind, asked.kind, young.kind) == (
        FetchKind.FULL, FetchKind.FULL, FetchKind.REFRESH,
    )  # fmt: skip


def test_next_to_nothing_is_flagged_and_nothing_is_concluded_from_it(database: Rig) -> None:
    read_whole(database, *(shown(n, n) for n in range(MANY)))

    empty = read_whole_again(database)

    assert (empty.state, empty.shrunk, empty.unseen) == (FetchState.DONE, True, None)
    assert fetch_of(database, begin(database)).kind is FetchKind.FULL


def test_a_domain_that_lost_some_ads_is_not_flagged(database: Rig) -> None:
    read_whole(database, *(shown(n, n) for n in range(MANY)))

    fewer = read_whole_again(database, shown(1, 1), shown(2, 2))

    assert (fewer.shrunk, fewer.unseen) == (False, MANY - 2)


def read_whole_again(database: Rig, *ads: Ad) -> Fetch:
    lease = begin(database, reach=Reach(full=True))
    return fetch_of(database, database.step(lease, page(*ads)))


def test_a_walk_that_is_split_ends_and_its_parts_wait_for_their_turn(database: Rig) -> None:
    parts = [Query(SHOP, format=one) for one in (AdFormat.TEXT, AdFormat.IMAGE)]
    whole = database.step(begin(database), page(shown(1, 1), more=True), parts)

    first, second = let_in(database, pool=Pool.BULK)

    assert job_of(database, whole).state is JobState.DONE
    assert [first.job.query, second.job.query] == parts
    assert {first.job.kind, second.job.kind} == {JobKind.WALK}
    assert fetch_of(database, whole).state is FetchState.ACTIVE
    database.step(first, page(shown(1, 1)))
    database.step(second, page(shown(2, 2)))
    [top_up] = let_in(database, pool=Pool.BULK)
    database.step(top_up, page(shown(1, 1), shown(2, 2)))
    assert fetch_of(database, whole).state is FetchState.DONE


def test_a_fetch_tells_into_how_many_parts_it_was_split_in_the_end(database: Rig) -> None:
    formats = [Query(SHOP, format=one) for one in (AdFormat.TEXT, AdFormat.IMAGE, AdFormat.VIDEO)]
    halves = [
        Query(SHOP, first_day=first, last_day=last, format=AdFormat.TEXT)
        for first, last in ((date(2026, 1, 1), date(2026, 6, 30)), (date(2026, 7, 1), NOON.date()))
    ]
    whole = database.step(begin(database), page(shown(1, 1), more=True), formats)
    [texts, *_] = let_in(database, pool=Pool.BULK)

    database.step(texts, page(shown(2, 2), more=True), halves)

    fetch = fetch_of(database, whole)
    assert (fetch.state, fetch.parts, fetch.top_ups) == (FetchState.ACTIVE, 4, 0)


def test_a_part_that_dies_makes_the_fetch_partial_and_can_be_retried_alone(database: Rig) -> None:
    parts = [Query(SHOP, format=one) for one in (AdFormat.TEXT, AdFormat.IMAGE)]
    whole = database.step(begin(database), page(shown(1, 1), more=True), parts)
    first, second = let_in(database, pool=Pool.BULK)
    database.step(first, page(shown(1, 1)))

    database.jobs.settle([(second, Dead("400"))])
    partial = fetch_of(database, whole)
    database.fetches.retry(second.job.id)
    again = database.lease(second.job.id, pool=Pool.BULK)
    database.step(again, page(shown(2, 2)))
    [top_up] = let_in(database, pool=Pool.BULK)
    database.step(top_up, page(shown(1, 1), shown(2, 2)))

    assert (partial.state, partial.error, partial.unseen) == (
        FetchState.PARTIAL,
        "image ads: 400",
        None,
    )
    done = fetch_of(database, whole)
    assert (done.state, done.found, done.error) == (FetchState.DONE, 2, None)
