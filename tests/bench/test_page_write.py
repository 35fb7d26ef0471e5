"""What a stored archive page costs in a huge domain beyond what it costs in a small one."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import Engine

from ppcfetch.adapters.database.engine import make_engine
from tests.bench.endless_walk import PAGE_SIZE, Walk
from tests.bench.ratio import compare, report

ROUNDS = 100
HELD = 100_000


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
