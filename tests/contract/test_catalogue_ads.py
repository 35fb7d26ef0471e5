"""Lists of ads, single ads, advertisers and searches, on the real database."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Engine

from ppcfetch.adapters.database.catalogue import Catalogue
from ppcfetch.adapters.database.catalogue_ads import FEW, list_ads
from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.adapters.database.snapshots import snapshot
from ppcfetch.errors import NotFound
from ppcfetch.model.ad import Ad, AdFormat
from ppcfetch.model.domain import DomainName
from ppcfetch.model.page import AdList, AdQuery, AdSort, Counts
from tests.contract.pages_rig import NOON, ad, fetched

DAY = timedelta(days=1)
SHOES = DomainName("shoes.example")
LIMIT = 4

Read = Callable[[AdQuery], AdList]


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


def any_ads(seed: int, count: int = 30) -> list[Ad]:
    """Give ads of which many share their dates, and some have none."""
    draw = random.Random(seed)
    return [
        ad(
            number,
            advertiser_id=f"AR{draw.randrange(3):02}",
            advertiser_name="Shoes Ltd",
            format=draw.choice(list(AdFormat)),
            first_shown=draw.choice([None, NOON - draw.randrange(30, 33) * DAY]),
            last_shown=draw.choice([None, NOON - draw.randrange(4) * DAY]),
        )
        for number in range(count)
    ]


def in_order(ads: list[Ad], query: AdQuery) -> list[str]:
    """Give the ids of the wanted ads in the order asked for."""

    def place(each: Ad) -> tuple[bool, float, str, str]:
        shown = each.last_shown if query.sort is AdSort.LAST_SHOWN else each.first_shown
        when = -shown.timestamp() if shown else 0.0
        return shown is None, when, each.advertiser_id, each.creative_id

    wanted = [
        each
        for each in ads
        if query.format in {None, each.format} and query.advertiser_id in {None, each.advertiser_id}
    ]
    return [each.creative_id for each in sorted(wanted, key=place)]


def walked(read: Read, query: AdQuery) -> tuple[list[list[str]], AdQuery]:
    """Give the pages from the first to the last one, and the query of the last one."""
    pages = []
    while True:
        found = read(query)
        pages.append([each.ad.creative_id for each in found.ads])
        if found.older is None:
            return pages, query
        query = replace(query, after=found.older)


def walked_back(read: Read, query: AdQuery) -> list[list[str]]:
    """Give the pages from this one back to the first."""
    pages = []
    while True:
        found = read(query)
        pages.append([each.ad.creative_id for each in found.ads])
        if found.newer is None:
            return pages
        query = replace(query, after=None, before=found.newer)


QUERIES = [
    AdQuery(SHOES),
    AdQuery(SHOES, sort=AdSort.FIRST_SHOWN),
    AdQuery(SHOES, format=AdFormat.VIDEO),
    AdQuery(SHOES, advertiser_id="AR01"),
    AdQuery(SHOES, format=AdFormat.TEXT, advertiser_id="AR02", sort=AdSort.FIRST_SHOWN),
]


@pytest.mark.parametrize("few", [pytest.param(FEW, id="few"), pytest.param(-1, id="many")])
def test_every_ad_is_listed_once_in_order_and_back_again(engine: Engine, few: int) -> None:
    def read(query: AdQuery) -> AdList:
        with snapshot(engine) as connection:
            return list_ads(connection, query, LIMIT, few=few)

    ads = any_ads(seed=1)
    fetched(engine, *ads)
    fetched(engine, *any_ads(seed=2), domain="hats.example")

    for query in QUERIES:
        pages, last = walked(read, query)
        assert [each for one in pages for each in one] == in_order(ads, query)
        assert all(len(one) == LIMIT for one in pages[:-1])
        back = walked_back(read, last)
        assert back[0] == pages[-1]
        assert back[-1] == pages[0]
        if len(back) > 1:
            assert {each for one in back for each in one} == set(in_order(ads, query))


def test_a_list_keeps_its_place_while_newer_ads_arrive(
    engine: Engine, catalogue: Catalogue
) -> None:
    fetched(engine, *(ad(n, last_shown=NOON - n * DAY) for n in range(8)))
    first = catalogue.domain_page(AdQuery(SHOES), LIMIT).listed

    fetched(engine, *(ad(100 + n, last_shown=NOON + n * DAY) for n in range(5)))

    second = catalogue.domain_page(AdQuery(SHOES, after=first.older), LIMIT).listed
    assert [each.ad.creative_id for each in second.ads] == [f"CR{n:04}" for n in range(4, 8)]


@pytest.mark.parametrize("mark", ["", "x", "!", "AAAA", "\0", "é", "a" * 5000])
def test_an_unreadable_mark_is_the_beginning(
    engine: Engine, catalogue: Catalogue, mark: str
) -> None:
    fetched(engine, *any_ads(seed=3))
    beginning = catalogue.domain_page(AdQuery(SHOES), LIMIT).listed

    assert catalogue.domain_page(AdQuery(SHOES, after=mark), LIMIT).listed.ads == beginning.ads
    assert catalogue.domain_page(AdQuery(SHOES, before=mark), LIMIT).listed == beginning
    of_another_order = AdQuery(SHOES, sort=AdSort.FIRST_SHOWN, after=beginning.older)
    assert catalogue.domain_page(of_another_order, LIMIT).listed.ads == (
        catalogue.domain_page(replace(of_another_order, after=None), LIMIT).listed.ads
    )


def test_an_unknown_domain_or_advertiser_has_no_ads(engine: Engine, catalogue: Catalogue) -> None:
    fetched(engine, ad(1))

    assert catalogue.domain_page(AdQuery(DomainName("hats.example")), LIMIT).listed.ads == ()
    for unknown in ("AR99", "AR01\0", "'"):
        assert catalogue.domain_page(AdQuery(SHOES, advertiser_id=unknown), LIMIT).listed.ads == ()


def test_an_ad_is_given_as_it_was_stored(engine: Engine, catalogue: Catalogue) -> None:
    stored = ad(1)
    first = fetched(engine, stored)
    changed = replace(stored, format=AdFormat.IMAGE)
    second = fetched(engine, changed)
    fetched(engine, replace(stored, advertiser_name=None), domain="hats.example")

    found = catalogue.ad("AR01", "CR0001")

    assert [each.domain.name for each in found.sightings] == ["hats.example", "shoes.example"]
    held = found.sightings[1]
    assert held.ad == changed
    assert (held.first_fetch_id, held.last_fetch_id, held.changed_fetch_id) == (
        first,
        second,
        second,
    )
    for advertiser, creative in (("AR01", "CR9999"), ("AR01\0", "CR0001")):
        with pytest.raises(NotFound):
            catalogue.ad(advertiser, creative)


def test_an_advertiser_has_the_domains_it_pays_for(engine: Engine, catalogue: Catalogue) -> None:
    fetched(engine, ad(1))
    fetched(engine, ad(1), ad(2, first_shown=NOON - 20 * DAY), domain="hats.example")

    found = catalogue.advertiser("AR01")

    assert (found.name, found.ads, found.domain_count) == ("Shoes Ltd", 3, 2)
    assert [(each.domain.name, each.ads) for each in found.domains] == [
        ("hats.example", 2),
        ("shoes.example", 1),
    ]
    assert found.domains[0].first_shown == NOON - 20 * DAY
    with pytest.raises(NotFound):
        catalogue.advertiser("AR99")


def test_a_search_finds_beginnings_of_domains_and_parts_of_names(
    engine: Engine, catalogue: Catalogue
) -> None:
    fetched(engine, ad(1, advertiser_name="The 100% Shoe_Shop"))
    fetched(engine, ad(1, advertiser_id="AR02", advertiser_name="Hats"), domain="shop.example")

    both = catalogue.search("SHO", 9)

    assert [each.domain.name for each in both.domains] == ["shoes.example", "shop.example"]
    assert [(each.name, each.ads) for each in both.advertisers] == [("The 100% Shoe_Shop", 1)]
    assert len(catalogue.search("sho", 1).domains) == 1
    for nothing in ("oes", "%", "s_oes", "\\", "\0"):
        assert catalogue.search(nothing, 9).domains == ()
    assert [each.advertiser_id for each in catalogue.search("0%", 9).advertisers] == ["AR01"]


def test_everything_is_counted(engine: Engine, catalogue: Catalogue) -> None:
    assert catalogue.counts() == Counts(domains=0, advertisers=0, ads=0)

    fetched(engine, ad(1), ad(2, advertiser_id="AR02"))
    fetched(engine, ad(1), domain="hats.example")

    assert catalogue.counts() == Counts(domains=2, advertisers=2, ads=3)
