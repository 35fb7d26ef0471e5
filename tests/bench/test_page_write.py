"""What a stored archive page costs in a huge domain beyond what it costs in a small one."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest
from sqlalchemy import Engine

from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.model.ad import ArchivePage
from ppcfetch.model.lease import Lease
from tests.bench.ratio import compare, report
from tests.contract.pages_rig import NOON, ad, lease_of, page, rows, write

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


def test_a_page_write_into_a_huge_domain_against_one_into_a_small(engine: Engine) -> None:
    huge, small = Walk(engine, "huge.example"), Walk(engine, "small.example")
    for _ in range(HELD // PAGE_SIZE):
        huge.store()

    ratio = compare(floor=small.store, ours=huge.store, rounds=ROUNDS)

    report(f"page write with {HELD:,} ads held", ratio)
    assert huge.held() - small.held() == HELD
