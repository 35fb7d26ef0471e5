"""Counters stay what counting gives, whatever pages come and however many write at once."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import pytest
from sqlalchemy import Engine

from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, Preview, PreviewKind
from ppcfetch.model.lease import Lease
from tests.contract.pages_rig import NOON, ad, lease_of, page, rows, walk, write
from tests.contract.recount import drift

DAY = timedelta(days=1)
PREVIEWS = [
    Preview(PreviewKind.NONE),
    Preview(PreviewKind.SCRIPT, "https://scripts.example/?sig=1"),
    Preview(PreviewKind.IMAGE, "https://pictures.example/1", 300, 200),
    Preview(PreviewKind.IMAGE, "https://pictures.example/2", 300, 250),
]


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    made = make_engine(database_url, application="test", pool_size=8, lease=timedelta(seconds=30))
    yield made
    made.dispose()


def any_ad(draw: random.Random, ads: int) -> Ad:
    """Give an ad whose number, and so whose key, often comes again with other values."""
    number = draw.randrange(ads)
    first = draw.choice([None, NOON - draw.randrange(9) * DAY])
    last = draw.choice([None, NOON + draw.randrange(9) * DAY, NOON - draw.randrange(12) * DAY])
    return ad(
        number,
        advertiser_id=f"AR{number % 5:02}",
        advertiser_name=draw.choice([None, "Shoes Ltd", "Shoes & Sons"]),
        format=draw.choice(list(AdFormat)),
        first_shown=first,
        last_shown=last,
        days_shown=draw.choice([None, draw.randrange(9)]),
        preview=draw.choice(PREVIEWS),
    )


def any_pages(draw: random.Random, *, count: int, ads: int) -> list[ArchivePage]:
    """Give the pages of a walk that meets ads again, on one page and across pages."""
    made = [page(*(any_ad(draw, ads) for _ in range(draw.randrange(12)))) for _ in range(count)]
    return [*made[:-1], replace(made[-1], next_cursor=None)]


@pytest.mark.parametrize("seed", range(12))
def test_counters_are_what_counting_gives(engine: Engine, seed: int) -> None:
    draw = random.Random(seed)

    for _ in range(4):
        for domain in ("shoes.example", "hats.example"):
            walk(engine, lease_of(engine, domain), any_pages(draw, count=4, ads=25))
            assert drift(engine) == {}


@pytest.mark.parametrize("seed", range(3))
def test_every_date_held_is_the_widest_that_was_served(engine: Engine, seed: int) -> None:
    pages = any_pages(random.Random(seed), count=8, ads=15)
    walk(engine, lease_of(engine), pages)

    stored = rows(engine, "SELECT creative_id, first_shown, last_shown, days_shown FROM ads")

    served = [each for one in pages for each in one.ads]
    assert {r["creative_id"] for r in stored} == {each.creative_id for each in served}
    for held in stored:
        same = [each for each in served if each.creative_id == held["creative_id"]]
        firsts = [each.first_shown for each in same if each.first_shown]
        lasts = [each.last_shown for each in same if each.last_shown]
        days = [each.days_shown for each in same if each.days_shown is not None]
        assert held["first_shown"] == min(firsts, default=None)
        assert held["last_shown"] == max(lasts, default=None)
        assert held["days_shown"] == max(days, default=None)


def test_jobs_that_write_the_same_ads_at_once_neither_deadlock_nor_drift(engine: Engine) -> None:
    # Two jobs of each of two domains, and all four share ads or advertisers.
    domains = ["shoes.example", "shoes.example", "hats.example", "hats.example"]
    leases = [lease_of(engine, domain) for domain in domains]
    together = Barrier(len(leases))

    def write_all(number: int, lease: Lease) -> None:
        draw = random.Random(number)
        pages = PostgresPages(engine)
        together.wait()
        for each in any_pages(draw, count=30, ads=40):
            lease = replace(lease, job=write(pages, lease, each).job)

    with ThreadPoolExecutor(len(leases)) as threads:
        list(threads.map(write_all, range(len(leases)), leases))

    assert drift(engine) == {}
    assert {r["state"] for r in rows(engine, "SELECT state FROM fetches")} == {"done"}
    assert {r["pages"] for r in rows(engine, "SELECT pages FROM fetches")} == {60}
