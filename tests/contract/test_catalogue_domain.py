"""What the site reads of a domain, on the real database."""

from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from sqlalchemy import Engine, event, text

from ppcfetch.adapters.database.catalogue import Catalogue
from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.errors import NotFound
from ppcfetch.model.ad import AdFormat, TotalRange
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchState
from ppcfetch.model.page import AdQuery
from ppcfetch.ports import DomainSummary
from tests.contract.pages_rig import NOON, ad, fetched, lease_of, page, row, rows, walk

DAY = timedelta(days=1)
LIMIT = 24
SHOES = DomainName("shoes.example")


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    made = make_engine(database_url, application="test", pool_size=2)
    yield made
    made.dispose()


@pytest.fixture
def catalogue(database_url: str) -> Iterator[Catalogue]:
    made = make_engine(database_url, application="test", pool_size=2, read_only=True)
    yield Catalogue(made)
    made.dispose()


def run(engine: Engine, statement: str, **values: object) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement), values)


def test_an_unknown_domain_has_an_empty_page(catalogue: Catalogue) -> None:
    found = catalogue.domain_page(AdQuery(SHOES), LIMIT)

    assert not found.known
    assert (found.ads, found.advertisers, found.latest, found.per_day) == (0, (), None, {})
    assert set(found.formats.values()) == {0}
    with pytest.raises(NotFound):
        catalogue.progress(SHOES)


def test_a_page_tells_what_is_held(engine: Engine, catalogue: Catalogue) -> None:
    lease = lease_of(engine)
    other = {"advertiser_id": "AR02", "advertiser_name": None}
    ads = [ad(1), ad(2, format=AdFormat.VIDEO), ad(3, **other, format=AdFormat.UNKNOWN)]
    walk(engine, lease, [page(*ads, cursor=None, total=TotalRange(2, 4))])

    found = catalogue.domain_page(AdQuery(SHOES), LIMIT)

    assert found.known
    assert (found.ads, found.total, found.advertiser_count) == (3, TotalRange(2, 4), 2)
    assert found.formats == {
        AdFormat.TEXT: 1,
        AdFormat.IMAGE: 0,
        AdFormat.VIDEO: 1,
        AdFormat.UNKNOWN: 1,
    }
    assert [(a.advertiser_id, a.name, a.ads) for a in found.advertisers] == [
        ("AR01", "Shoes Ltd", 2),
        ("AR02", None, 1),
    ]
    assert found.advertisers[0].first_shown == NOON - 10 * DAY
    assert found.latest is not None
    assert found.latest == found.complete == catalogue.fetch(lease.job.fetch_id)
    assert found.freshness.checked_at == found.latest.finished_at
    assert not found.freshness.is_stale(found.now, DAY)
    summary = catalogue.summary(SHOES)
    assert summary == DomainSummary(3, [("AR01", "Shoes Ltd", 2), ("AR02", None, 1)])


def test_a_page_lists_the_newest_fetches_and_the_last_complete_one(
    engine: Engine, catalogue: Catalogue
) -> None:
    complete = fetched(engine, ad(1))
    run(
        engine,
        "INSERT INTO fetches (domain, state, reason) SELECT 'shoes.example', 'failed', 'person'"
        " FROM generate_series(1, 12)",
    )

    found = catalogue.domain_page(AdQuery(SHOES), LIMIT)

    ids = [fetch.id for fetch in found.fetches]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == 10
    assert complete not in ids
    assert found.complete is not None
    assert found.complete.id == complete
    assert found.latest is not None
    assert found.latest.state is FetchState.FAILED


def test_activity_counts_the_windows_that_cover_a_day(engine: Engine, catalogue: Catalogue) -> None:
    today = row(engine, "SELECT now() AS now")["now"].replace(hour=12)
    windows = [(today - 3 * DAY, today), (today - 900 * DAY, today - 2 * DAY), (None, today)]
    fetched(
        engine,
        *(ad(n, first_shown=first, last_shown=last) for n, (first, last) in enumerate(windows)),
    )

    per_day = catalogue.domain_page(AdQuery(SHOES), LIMIT).per_day

    day = today.date()
    assert [per_day.get(day - back * DAY, 0) for back in range(6)] == [1, 1, 2, 2, 1, 1]
    assert min(per_day) == day - 370 * DAY
    assert max(per_day) == day


def test_a_queued_fetch_tells_its_place_in_line(engine: Engine, catalogue: Catalogue) -> None:
    domains = ["a.example", "b.example", "shoes.example", "c.example"]
    for domain in domains:
        lease_of(engine, domain)
    run(engine, "UPDATE jobs SET state = 'queued', pool = 'interactive'")
    run(engine, "UPDATE jobs SET state = 'running', beat_at = now(), holder = 'w1' WHERE id = 1")
    other_pool = lease_of(engine, "d.example").job.id
    run(
        engine,
        "UPDATE jobs SET state = 'queued', due_at = due_at - interval '1 day' WHERE id = :id",
        id=other_pool,
    )

    waiting = catalogue.progress(SHOES).waiting

    assert (waiting.ahead, waiting.workers, waiting.typical) == (1, 1, None)
    assert waiting.resumes_at is None


def test_a_queued_fetch_tells_how_long_jobs_usually_take(
    engine: Engine, catalogue: Catalogue
) -> None:
    for number, seconds in enumerate((2, 10, 40)):
        fetched(engine, ad(1), domain=f"{number}.example")
        run(
            engine,
            "UPDATE fetches SET started_at = finished_at - make_interval(secs => :seconds)"
            " WHERE domain = :domain",
            seconds=seconds,
            domain=f"{number}.example",
        )
    run(engine, "UPDATE jobs SET finished_at = f.finished_at FROM fetches f WHERE f.id = fetch_id")
    lease_of(engine)
    run(engine, "UPDATE jobs SET state = 'queued' WHERE domain = 'shoes.example'")

    waiting = catalogue.progress(SHOES).waiting

    assert waiting.typical == timedelta(seconds=10)


def test_a_resting_fetch_tells_when_it_goes_on_and_why(
    engine: Engine, catalogue: Catalogue
) -> None:
    lease_of(engine)
    run(
        engine,
        "UPDATE jobs SET state = 'queued', due_at = now() + interval '1 hour',"
        " error = 'the archive is away'",
    )

    waiting = catalogue.progress(SHOES).waiting

    assert waiting.resumes_at == row(engine, "SELECT due_at FROM jobs")["due_at"]
    assert (waiting.ahead, waiting.error) == (None, "the archive is away")


def test_progress_agrees_with_the_page(engine: Engine, catalogue: Catalogue) -> None:
    fetched(engine, ad(1))
    walk(engine, lease_of(engine), [page(ad(2), total=TotalRange(200, 300))])

    progress, found = catalogue.progress(SHOES), catalogue.domain_page(AdQuery(SHOES), LIMIT)

    assert progress.latest == found.latest
    assert progress.complete == found.complete
    assert (progress.ads, progress.advertiser_count, progress.total) == (2, 1, TotalRange(200, 300))
    assert progress.freshness == found.freshness
    assert progress.now <= found.now


def test_one_page_is_read_at_one_moment(engine: Engine, catalogue: Catalogue) -> None:
    from ppcfetch.adapters.database.catalogue_domain import domain_page
    from ppcfetch.adapters.database.snapshots import snapshot

    fetched(engine, ad(1))
    with snapshot(engine) as connection:
        before = domain_page(connection, SHOES, DAY)
        fetched(engine, ad(1), ad(2))
        after = domain_page(connection, SHOES, DAY)

    assert (after.ads, after.fetches) == (before.ads, before.fetches)
    assert catalogue.domain_page(AdQuery(SHOES), LIMIT).ads == 2


def test_the_listed_ads_are_those_that_are_counted(engine: Engine, database_url: str) -> None:
    fetched(engine, ad(1))
    reader = make_engine(database_url, application="test", pool_size=1, read_only=True)
    at_statement: list[int] = []

    def meanwhile(*_statement: object) -> None:
        at_statement.append(len(at_statement))
        fetched(engine, *map(ad, range(len(at_statement) + 1)))

    Catalogue(reader).counts()
    event.listen(reader, "after_cursor_execute", meanwhile)
    found = Catalogue(reader).domain_page(AdQuery(SHOES), LIMIT)
    reader.dispose()

    assert len(at_statement) > 3
    assert (found.ads, len(found.listed.ads), sum(found.formats.values())) == (1, 1, 1)


def test_reading_everything_writes_nothing(engine: Engine, catalogue: Catalogue) -> None:
    fetched(engine, ad(1))
    tables = [
        r["name"]
        for r in rows(
            engine, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
        )
    ]
    state = {name: rows(engine, f"SELECT * FROM {name}") for name in tables}  # noqa: S608 -- ours

    catalogue.domain_page(AdQuery(SHOES), LIMIT)
    catalogue.domain_page(AdQuery(DomainName("unknown.example")), LIMIT)
    catalogue.progress(SHOES)
    catalogue.counts()

    assert {name: rows(engine, f"SELECT * FROM {name}") for name in tables} == state  # noqa: S608 -- ours


def test_an_unknown_fetch_is_not_found(catalogue: Catalogue) -> None:
    with pytest.raises(NotFound):
        catalogue.fetch(7)


@pytest.mark.parametrize("today", [date(2026, 11, 30)])
def test_days_that_no_window_covers_are_left_out(today: date) -> None:
    from ppcfetch.adapters.database.catalogue_domain import running_counts

    deltas = [(today - 5 * DAY, 2), (today - 3 * DAY, -2), (today, 1)]

    counts = running_counts(deltas, today - 9 * DAY, today)

    assert counts == {today - 5 * DAY: 2, today - 4 * DAY: 2, today: 1}
