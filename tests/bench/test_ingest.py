"""From the bytes of archive answers to committed pages, against a bare COPY of the same rows."""

from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import Engine

from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from tests.bench.ingest_rig import (
    BareCopy,
    Pipeline,
    a_day_before,
    answers,
    end_fetches,
    race,
)
from tests.servers import Databases, libpq, short_folder

PAGES = 300
PAGE_SIZE = 100
DOMAIN = "ads-200000.example"


@pytest.fixture
def address() -> Iterator[str]:
    """Give a database on a server that writes to disk what it confirms."""
    with short_folder() as folder, EmbeddedPostgres(folder / "postgres", durable=True) as server:
        yield Databases(server).migrated()


@pytest.fixture
def engine(address: str) -> Iterator[Engine]:
    """Give connections as a worker has them."""
    made = make_engine(address, application="bench", pool_size=2, lease=timedelta(seconds=60))
    yield made
    made.dispose()


def test_rows_a_second_against_a_bare_copy_into_the_same_indexes(
    engine: Engine, address: str
) -> None:
    today = answers(DOMAIN, PAGES)
    walks = {
        "new ads": [a_day_before(body) for body in today],
        "known ads, shown on for a day": today,
        "known ads, all as before": today,
    }

    with psycopg.connect(libpq(address)) as connection:
        for number, (name, bodies) in enumerate(walks.items()):
            pipeline = Pipeline(engine, DOMAIN)
            speed = race(pipeline, BareCopy(connection), bodies, DOMAIN)
            end_fetches(engine)

            print(f"\ningest, {name}: {speed}")
            assert pipeline.new == (0 if number else PAGES * PAGE_SIZE)
