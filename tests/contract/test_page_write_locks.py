"""Page writes of different domains that name the same advertisers do not wait for one another."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from sqlalchemy import Connection, Engine, text

from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.model.ad import Ad, ArchivePage
from ppcfetch.model.lease import Lease
from tests.contract.pages_rig import ad, lease_of, page, row, walk
from tests.waiting import wait_until

ADD = text("INSERT INTO advertisers (advertiser_id) SELECT unnest(CAST(:names AS text[]))")
PAGES = 25
ADS = 100


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """A worker's connections to a database of this test's own."""
    made = make_engine(database_url, application="test", pool_size=4, lease=timedelta(seconds=30))
    yield made
    made.dispose()


def test_writes_at_once_store_shared_advertisers_in_one_order(engine: Engine) -> None:
    leases = [lease_of(engine, domain) for domain in ("shoes.example", "boots.example")]
    barrier = Barrier(len(leases))

    def write(lease: Lease, pages: list[ArchivePage]) -> int:
        barrier.wait()
        return walk(engine, lease, pages).job.pages

    forwards = [shared(number, range(ADS)) for number in range(PAGES)]
    backwards = [shared(number, range(ADS - 1, -1, -1)) for number in range(PAGES)]
    with ThreadPoolExecutor(len(leases)) as threads:
        written = list(threads.map(write, leases, [forwards, backwards]))

    assert written == [PAGES, PAGES]
    assert row(engine, "SELECT count(*) FROM advertisers")["count"] == PAGES * ADS


def test_a_write_that_waits_for_an_advertiser_holds_none_behind_it(engine: Engine) -> None:
    lease, names = lease_of(engine), [f"AR{n:03}" for n in range(ADS)]
    with ThreadPoolExecutor(1) as threads, engine.connect() as first, engine.connect() as others:
        first.execute(ADD, {"names": names[:1]})
        written = threads.submit(walk, engine, lease, [page(*map(by_one, names), cursor=None)])
        wait_until(lambda: waiting(others) == 1, describe="the write waits for the first name")

        others.execute(text("SET LOCAL lock_timeout = '5s'"))
        others.execute(ADD, {"names": names[1:]})

        others.rollback()
        first.rollback()
        assert written.result().job.pages == 1


def by_one(name: str) -> Ad:
    return ad(int(name[2:]), advertiser_id=name)


def waiting(connection: Connection) -> int:
    """Count who waits for a row that somebody else is about to add."""
    found = connection.execute(
        text("SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'")
    ).scalar_one()
    connection.rollback()
    return int(found)


def shared(number: int, order: range) -> ArchivePage:
    """Give a page of new advertisers, the same for every domain."""
    names = [f"AR{number:03}{n:03}" for n in order]
    return page(*(ad(n, advertiser_id=name) for n, name in enumerate(names)), cursor=f"c{number}")
