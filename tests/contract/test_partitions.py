"""The ads cut into partitions, by the statements of `docs/scale.md`, while pages are stored.

Both databases are told the same; the one whose table is cut on the way must end up with the same.
"""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Event

import psycopg
import pytest
from sqlalchemy import Engine, inspect

from ppcfetch.adapters.database.catalogue import Catalogue
from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.model.ad import AdFormat
from ppcfetch.model.domain import DomainName
from ppcfetch.model.page import AdQuery, AdSort
from tests.contract.pages_rig import ad, fetched, lease_of, page, rows, walk, write
from tests.contract.recount import drift
from tests.contract.test_page_write_laws import any_pages
from tests.partitioning import PARTITIONS, Partitioning
from tests.servers import Databases, libpq
from tests.waiting import wait_until

DOMAINS = [f"shop-{number}.example" for number in range(10)]
FIRST = DOMAINS[0]
LIMIT = 7
STEPS = (Partitioning.prepare, Partitioning.copy, Partitioning.swap, Partitioning.analyze)
TABLES = {
    "ads": "domain, advertiser_id, creative_id",
    "domains": "domain",
    "domain_advertisers": "domain, advertiser_id",
    "domain_days": "domain, day",
    "fetches": "id",
}
TIMES = {"created_at", "asked_at", "started_at", "finished_at", "checked_at", "attempted_at"}
TIMES |= {"walked_at"}


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """Connections as a worker has them."""
    made = make_engine(database_url, application="test", pool_size=4, lease=timedelta(seconds=30))
    yield made
    made.dispose()


@pytest.fixture
def plain(databases: Databases) -> Iterator[Engine]:
    """The same of a second database, whose table stays whole."""
    url = databases.migrated()
    made = make_engine(url, application="test", pool_size=1, lease=timedelta(seconds=30))
    yield made
    made.dispose()
    databases.drop(url)


@pytest.fixture
def partitioning(database_url: str) -> Partitioning:
    """An operator of the first database."""
    return Partitioning(database_url)


def store(engine: Engine, seed: int) -> None:
    """Fetch each domain once; every seed meets known ads again, changed and unchanged."""
    draw = random.Random(seed)
    for domain in DOMAINS:
        walk(engine, lease_of(engine, domain), any_pages(draw, count=4, ads=25))


def held(engine: Engine) -> dict[str, list[dict[str, object]]]:
    """Give all rows that tell what is known, without the times at which they were written."""
    return {
        table: [
            {name: value for name, value in row.items() if name not in TIMES}
            for row in rows(engine, f"SELECT * FROM {table} ORDER BY {order}")  # noqa: S608
        ]
        for table, order in TABLES.items()
    }


def looked_at(engine: Engine) -> list[object]:
    """Look at every kind of page, each list to its end and back."""
    catalogue = Catalogue(engine)
    seen: list[object] = []
    for domain in DOMAINS[:2]:
        for sort in AdSort:
            for given in ({}, {"format": AdFormat.TEXT}, {"advertiser_id": "AR03"}):
                query = AdQuery(DomainName(domain), sort=sort, **given)
                seen += listed(catalogue, query)
    known = rows(engine, "SELECT advertiser_id, creative_id FROM ads ORDER BY 1, 2, domain")
    seen += [catalogue.ad(row["advertiser_id"], row["creative_id"]) for row in known]
    return [*seen, catalogue.search("shop", 20), catalogue.advertiser("AR03"), catalogue.counts()]


def listed(catalogue: Catalogue, query: AdQuery) -> Iterator[object]:
    """Page through a list to its end, and one page back from there."""
    found = catalogue.domain_page(query, LIMIT).listed
    yield found
    while found.older:
        found = catalogue.domain_page(replace(query, after=found.older), LIMIT).listed
        yield found
    if found.newer:
        yield catalogue.domain_page(replace(query, before=found.newer), LIMIT).listed


def test_what_is_stored_and_shown_is_the_same_with_and_without_partitions(
    engine: Engine, plain: Engine, partitioning: Partitioning
) -> None:
    for made in (engine, plain):
        store(made, 1)
    partitioning.prepare()
    for made in (engine, plain):
        store(made, 2)
    partitioning.copy()
    for made in (engine, plain):
        store(made, 3)
    same = partitioning.same()
    partitioning.swap()
    for made in (engine, plain):
        store(made, 4)

    assert same
    assert held(engine) == held(plain)
    assert looked_at(engine) == looked_at(plain)
    assert drift(engine) == {}
    assert {row["relkind"] for row in rows(engine, KIND)} == {"p"}
    assert len(rows(engine, "SELECT FROM pg_inherits WHERE inhparent = 'ads'::regclass")) == 16
    assert PARTITIONS == 16


KIND = "SELECT relkind FROM pg_class WHERE oid = 'ads'::regclass"


def test_a_walk_goes_on_through_every_step(engine: Engine, partitioning: Partitioning) -> None:
    fetched(engine, *(ad(n) for n in range(500)), domain=FIRST)
    stop, stored = Event(), [0]

    def write_on() -> int:
        pages, lease = PostgresPages(engine), lease_of(engine, FIRST)
        while not stop.is_set():
            known = range(stored[0] % 400, stored[0] % 400 + 20)
            fresh = ad(1000 + stored[0])
            lease = replace(lease, job=write(pages, lease, page(fresh, *map(ad, known))).job)
            stored[0] += 1
        return stored[0]

    def goes_on() -> None:
        before = stored[0]
        wait_until(lambda: stored[0] > before + 5 or walking.done(), describe="pages are stored")

    with ThreadPoolExecutor(1) as threads:
        walking = threads.submit(write_on)
        for step in STEPS:
            goes_on()
            step(partitioning)
        goes_on()
        stop.set()

    assert rows(engine, "SELECT count(*) AS ads FROM ads") == [{"ads": 500 + walking.result()}]
    assert drift(engine) == {}


def test_a_copy_that_was_cut_off_is_made_again(engine: Engine, partitioning: Partitioning) -> None:
    store(engine, 1)
    partitioning.prepare()
    partitioning.copy()
    store(engine, 2)

    partitioning.copy()

    assert partitioning.same()


def test_comparing_notices_an_ad_that_was_not_copied(
    engine: Engine, partitioning: Partitioning
) -> None:
    store(engine, 1)

    partitioning.prepare()

    assert not partitioning.same()


def test_columns_keys_and_indexes_are_those_of_the_plain_table(
    engine: Engine, partitioning: Partitioning
) -> None:
    before = described(engine)

    partitioning.prepare()
    partitioning.copy()
    partitioning.swap()

    assert described(engine) == before


def test_nobody_deletes_an_ad_while_it_is_copied(
    engine: Engine, database_url: str, partitioning: Partitioning
) -> None:
    fetched(engine, ad(1))
    partitioning.prepare()

    with (
        psycopg.connect(libpq(database_url)) as connection,
        pytest.raises(psycopg.errors.RaiseException, match="delete them afterwards"),
    ):
        connection.execute("DELETE FROM ads")


def test_who_may_only_read_reads_partitions_too(
    engine: Engine, database_url: str, partitioning: Partitioning
) -> None:
    fetched(engine, ad(1), domain=FIRST)
    partitioning.prepare()
    partitioning.copy()
    partitioning.swap()

    reader = make_engine(database_url, application="test", pool_size=1, read_only=True)
    found = Catalogue(reader).domain_page(AdQuery(DomainName(FIRST)), LIMIT)
    reader.dispose()

    assert len(found.listed.ads) == 1


def described(engine: Engine) -> list[object]:
    """Give what a table is made of, as far as programs may rely on it."""
    looker = inspect(engine)
    columns = [{**column, "type": str(column["type"])} for column in looker.get_columns("ads")]
    defined = rows(
        engine,
        "SELECT indexname, regexp_replace(indexdef, ' ON (ONLY )?', ' ON ') AS indexdef"
        " FROM pg_indexes WHERE tablename = 'ads' ORDER BY 1",
    )
    return [columns, looker.get_pk_constraint("ads"), defined]
