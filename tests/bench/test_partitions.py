"""What pages cost that are stored in and read from ads in partitions, beside a plain table."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from statistics import median

import pytest
from sqlalchemy import Engine

from ppcfetch.adapters.database.catalogue import Catalogue
from ppcfetch.adapters.database.engine import make_engine
from tests.bench.endless_walk import Walk
from tests.bench.huge import ADS, HUGE, load
from tests.bench.ingest_rig import end_fetches
from tests.bench.partition_rig import cut, load_many
from tests.bench.ratio import Ratio, compare
from tests.bench.test_pages import looks, p95, times
from tests.contract.pages_rig import rows
from tests.figures import keep
from tests.servers import Databases

ROUNDS = 200
HOW_MANY = int(os.environ.get("PARTITIONS_ADS", str(ADS)))
LITTLE = "little-7.example"


@pytest.fixture(scope="module")
def plain(databases: Databases) -> Iterator[str]:
    """Give a database with one huge domain and many small ones."""
    url = databases.migrated()
    print(f"\npartitions, {load(url, HOW_MANY)}")
    load_many(url)
    yield url
    databases.drop(url)


@pytest.fixture(scope="module")
def parted(databases: Databases, plain: str) -> Iterator[str]:
    """Give a copy of it whose ads were cut into partitions while a walk went on."""
    url = databases.copy_of(plain)
    with connected(url) as engine:
        for step in cut(url, engine):
            keep("partitions", f"step: {step.name}", str(step))
        end_fetches(engine)
    yield url
    databases.drop(url)


def test_pages_in_partitions_against_pages_in_a_plain_table(plain: str, parted: str) -> None:
    with connected(plain) as one, connected(parted) as many:
        held = [rows(engine, COUNT)[0]["ads"] for engine in (one, many)]
        read(plain, parted)
        for domain in (HUGE, LITTLE):
            for kind in ("new", "known"):
                ratio = store(one, many, domain)
                keep("partitions", f"write: a page of {kind} ads, {domain}", str(ratio))

    assert held[1] >= held[0]


COUNT = "SELECT count(*) AS ads FROM ads"


def read(plain: str, parted: str) -> None:
    """Look at every kind of page of the huge domain in both, in turn."""
    with reading(plain) as one, reading(parted) as many:
        pairs = zip(looks(plain, one, HUGE), looks(parted, many, HUGE), strict=True)
        for (name, whole), (_, cut_up) in [*pairs, (an_ad(one), an_ad(many))]:
            floor, ours = times(whole, cut_up)
            keep(
                "partitions",
                f"read: {name}",
                f"{median(ours) / median(floor):.2f} times"
                f" ({median(ours):.1f} against {median(floor):.1f} ms),"
                f" p95 {p95(ours) / p95(floor):.2f} times",
            )


def an_ad(catalogue: Catalogue) -> tuple[str, Callable[[], object]]:
    """Give the one page that does not name its domain: it asks every partition."""
    numbers = count()

    def look() -> object:
        return catalogue.ad(f"AR{10 + next(numbers) % 1_000:020}", f"CR{1:020}")

    return "one ad, whatever its domain", look


def store(plain: Engine, parted: Engine, domain: str) -> Ratio:
    """Store the same pages in both, in turn; a domain's second walk meets what the first stored."""
    floor, ours = Walk(plain, domain), Walk(parted, domain)
    ratio = compare(floor=floor.store, ours=ours.store, rounds=ROUNDS)
    end_fetches(plain)
    end_fetches(parted)
    return ratio


@contextmanager
def connected(url: str) -> Iterator[Engine]:
    """Give connections as a worker has them."""
    made = make_engine(url, application="bench", pool_size=2, lease=timedelta(seconds=60))
    yield made
    made.dispose()


@contextmanager
def reading(url: str) -> Iterator[Catalogue]:
    """Give what the site reads with."""
    made = make_engine(url, application="bench", pool_size=1, read_only=True)
    yield Catalogue(made)
    made.dispose()
