"""What a stored archive page costs beyond moving its rows into PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count

import psycopg
import pytest
from sqlalchemy import Engine

from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.model.ad import ArchivePage
from ppcfetch.model.lease import Lease
from tests.bench.ratio import compare, report
from tests.contract.pages_rig import NOON, ad, lease_of, page, rows, write
from tests.servers import libpq

PAGE_SIZE = 100
ROUNDS = 100
HELD = 100_000
ADVERTISERS = 20


class Walk:
    """A walk along a domain that never ends; each page holds ads that nobody has seen."""

    def __init__(self, engine: Engine, domain: str) -> None:
        self.engine, self.domain = engine, domain
        self._pages = PostgresPages(engine)
        self._lease: Lease = lease_of(engine, domain)
        self._numbers = count()

    def store(self) -> None:
        """Write the next page."""
        progress = write(self._pages, self._lease, self._next())
        self._lease = replace(self._lease, job=progress.job)

    def held(self) -> int:
        """Count what is stored."""
        query = "SELECT count(*) AS held FROM ads WHERE domain = :domain"
        return int(rows(self.engine, query, domain=self.domain)[0]["held"])

    def _next(self) -> ArchivePage:
        numbers = [next(self._numbers) for _ in range(PAGE_SIZE)]
        return page(
            *(
                ad(
                    advertiser_id=f"AR{number % ADVERTISERS:04}",
                    creative_id=f"CR{number:09}",
                    last_shown=NOON - timedelta(minutes=number),
                    first_shown=NOON - timedelta(minutes=number, days=number % 300),
                )
                for number in numbers
            ),
            cursor=f"cursor {numbers[-1]}",
        )


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """Give connections as a worker has them."""
    made = make_engine(database_url, application="bench", pool_size=2, lease=timedelta(seconds=60))
    yield made
    made.dispose()


@pytest.fixture
def plain(database_url: str) -> Iterator[psycopg.Connection]:
    """Give a connection with a table that nothing guards."""
    with psycopg.connect(libpq(database_url)) as connection:
        connection.execute(
            "CREATE TABLE floor (domain text, advertiser text, creative text, url text)"
        )
        connection.commit()
        yield connection


def test_a_page_write_against_a_bare_copy(engine: Engine, plain: psycopg.Connection) -> None:
    walk = Walk(engine, "small.example")

    ratio = compare(floor=lambda: copy_bare_rows(plain), ours=walk.store, rounds=ROUNDS)

    report("page write", ratio)
    assert walk.held() == PAGE_SIZE * ROUNDS


def test_a_page_write_into_a_huge_domain_against_one_into_a_small(engine: Engine) -> None:
    huge, small = Walk(engine, "huge.example"), Walk(engine, "small.example")
    for _ in range(HELD // PAGE_SIZE):
        huge.store()

    ratio = compare(floor=small.store, ours=huge.store, rounds=ROUNDS)

    report(f"page write with {HELD:,} ads held", ratio)
    assert huge.held() - small.held() == HELD


def copy_bare_rows(connection: psycopg.Connection) -> None:
    """Move one page of rows in and commit: the least that any write costs."""
    with connection.cursor().copy("COPY floor FROM STDIN") as copy:
        for number in range(PAGE_SIZE):
            copy.write_row(("floor.example", "AR01", f"CR{number}", "https://pictures.example/1"))
    connection.commit()
