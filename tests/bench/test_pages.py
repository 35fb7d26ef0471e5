"""What the site's pages cost over two million ads beside what they cost over two hundred."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from statistics import median, quantiles
from time import perf_counter

import psycopg
import pytest

from ppcfetch.adapters.database.ad_marks import Mark
from ppcfetch.adapters.database.catalogue import Catalogue
from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.model.ad import AdFormat
from ppcfetch.model.domain import DomainName
from ppcfetch.model.page import AdQuery, AdSort
from tests.bench.huge import HUGE, SMALL, load
from tests.servers import Databases, libpq

ROUNDS = 300
WARM_UP = 20
LIMIT = 48
DEPTHS = 50

Look = Callable[[], object]


@pytest.fixture(scope="module")
def address(databases: Databases) -> Iterator[str]:
    """Give a database with both domains."""
    url = databases.migrated()
    print(f"\npages, {load(url)}")
    yield url
    databases.drop(url)


@pytest.fixture(scope="module")
def catalogue(address: str) -> Iterator[Catalogue]:
    """Give what the site reads with."""
    engine = make_engine(address, application="bench", pool_size=1, read_only=True)
    yield Catalogue(engine)
    engine.dispose()


def test_pages_over_two_million_ads_against_pages_over_two_hundred(
    address: str, catalogue: Catalogue
) -> None:
    pairs = zip(looks(address, catalogue, SMALL), looks(address, catalogue, HUGE), strict=True)
    for (name, small), (_, huge) in pairs:
        few, many = times(small, huge)

        print(
            f"\npages, {name}: p95 {p95(many) / p95(few):.2f} times"
            f" ({p95(many):.1f} against {p95(few):.1f} ms),"
            f" median {median(many) / median(few):.2f} times"
            f" ({median(many):.1f} against {median(few):.1f} ms)"
        )


def looks(address: str, catalogue: Catalogue, domain: str) -> Iterator[tuple[str, Look]]:
    """Give each kind of page with what looks at it; every look is at another place."""
    name = DomainName(domain)
    largest, smallest = advertisers(address, domain)
    queries = {
        "the domain page": AdQuery(name),
        "the first shown first": AdQuery(name, sort=AdSort.FIRST_SHOWN),
        "one format": AdQuery(name, format=AdFormat.IMAGE),
        "the largest advertiser": AdQuery(name, advertiser_id=largest),
        "a small advertiser": AdQuery(name, advertiser_id=smallest),
        "the largest advertiser, one format": AdQuery(
            name, advertiser_id=largest, format=AdFormat.TEXT
        ),
    }
    for kind, query in queries.items():
        yield kind, partial(catalogue.domain_page, query, LIMIT)
    for sort in AdSort:
        deep = cycle(marks(address, domain, sort))
        query = AdQuery(name, sort=sort)
        yield f"deep by {sort.value}", partial(older, catalogue, query, deep)
        yield f"back by {sort.value}", partial(newer, catalogue, query, deep)
    yield "progress", partial(catalogue.progress, name)


def older(catalogue: Catalogue, query: AdQuery, deep: Iterator[str]) -> object:
    """Page on from the next mark."""
    return catalogue.domain_page(replace(query, after=next(deep)), LIMIT)


def newer(catalogue: Catalogue, query: AdQuery, deep: Iterator[str]) -> object:
    """Page back from the next mark."""
    return catalogue.domain_page(replace(query, before=next(deep)), LIMIT)


def advertisers(address: str, domain: str) -> tuple[str, str]:
    """Give the advertiser with the most ads and one with the fewest."""
    query = "SELECT advertiser_id FROM domain_advertisers WHERE domain = %s ORDER BY ads DESC, 1"
    with psycopg.connect(libpq(address)) as connection:
        rows = connection.execute(query, [domain]).fetchall()
    return rows[0][0], rows[-1][0]


def marks(address: str, domain: str, sort: AdSort) -> Sequence[str]:
    """Give marks at all depths with a whole page on either side, deep and shallow in turn."""
    query = f"""
        SELECT {sort.value}, advertiser_id, creative_id FROM (
            SELECT *, row_number() OVER (ORDER BY {sort.value} DESC) AS place, count(*) OVER () AS n
            FROM ads WHERE domain = %(domain)s
        ) ads
        WHERE place > 60 AND place < n - 60
            AND place %% greatest((n - 120) / %(depths)s, 1) = 0
        ORDER BY md5(creative_id)
    """  # noqa: S608 - our own names
    with psycopg.connect(libpq(address)) as connection:
        found = connection.execute(query.encode(), {"domain": domain, "depths": DEPTHS}).fetchall()
    return [Mark(sort, *row).encoded() for row in found]


def times(small: Look, huge: Look) -> tuple[list[float], list[float]]:
    """Give milliseconds of both, in turn, so that whatever slows the machine slows both."""
    pairs = [(spent(small), spent(huge)) for _ in range(WARM_UP + ROUNDS)][WARM_UP:]
    return [few for few, _ in pairs], [many for _, many in pairs]


def spent(look: Look) -> float:
    """Give the milliseconds of one look."""
    begun = perf_counter()
    look()
    return (perf_counter() - begun) * 1000


def p95(spans: Sequence[float]) -> float:
    """Give what 95 of 100 looks stay below."""
    return quantiles(spans, n=100)[94]
