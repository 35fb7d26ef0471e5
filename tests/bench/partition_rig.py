"""Many small domains beside the huge one, and a table that is cut while a walk writes to it."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from time import perf_counter

import psycopg
from sqlalchemy import Engine

from tests.bench.endless_walk import Walk
from tests.bench.huge import HUGE
from tests.partitioning import Partitioning
from tests.servers import libpq

SMALL_DOMAINS, ADS_EACH = 2_000, 50
FAR = 10_000_000
"""The number of the first ad that the walk stores: no other walk of a bench goes as far."""
BETWEEN_PAGES = 0.05
"""Seconds; a walk over the archive waits much longer."""

_MANY = f"""
INSERT INTO domains (domain, ads, text_ads, advertisers)
SELECT 'little-' || n || '.example', {ADS_EACH}, {ADS_EACH}, 1
FROM generate_series(1, {SMALL_DOMAINS}) n;
INSERT INTO fetches (domain, state, reason, finished_at, pages, found, new)
SELECT domain, 'done', 'import', now(), 1, ads, ads FROM domains WHERE domain LIKE 'little-%';
INSERT INTO ads (domain, advertiser_id, creative_id, format, first_shown, last_shown, preview_kind,
    first_fetch_id, last_fetch_id)
SELECT f.domain, 'AR' || lpad(f.id::text, 20, '0'), 'CR' || lpad(n::text, 20, '0'), 1,
    now() - n * interval '2 days', now() - n * interval '1 day', 0, f.id, f.id
FROM fetches f, generate_series(1, {ADS_EACH}) n WHERE f.domain LIKE 'little-%';
INSERT INTO advertisers (advertiser_id)
SELECT DISTINCT advertiser_id FROM ads WHERE domain LIKE 'little-%' ON CONFLICT DO NOTHING;
INSERT INTO domain_advertisers
SELECT domain, advertiser_id, count(*), min(first_shown), max(last_shown) FROM ads
WHERE domain LIKE 'little-%' GROUP BY 1, 2
"""  # noqa: S608 -- our own numbers


@dataclass(frozen=True, slots=True)
class Step:
    """What one step took. Units: seconds; longest is the longest page write meanwhile."""

    name: str
    seconds: float
    pages: int
    longest: float

    def __str__(self) -> str:
        """Say it in a line."""
        meanwhile = f"{self.pages:,} pages stored meanwhile, {self.longest:.2f} s the longest"
        return f"{self.seconds:,.1f} s ({meanwhile})"


def load_many(url: str) -> None:
    """Add the small domains, and let the planner know."""
    with psycopg.connect(libpq(url), autocommit=True) as connection:
        connection.execute(_MANY.encode())
        connection.execute("VACUUM ANALYZE")


def cut(url: str, engine: Engine) -> list[Step]:
    """Cut the table by the steps of the page, while a walk of the huge domain writes to it."""
    walk, stop = Walk(engine, HUGE, first=FAR), Event()
    writes: list[tuple[float, float]] = []

    def write_on() -> None:
        while not stop.wait(BETWEEN_PAGES):
            begun = perf_counter()
            walk.store()
            writes.append((begun, perf_counter()))

    partitioning = Partitioning(url)
    with ThreadPoolExecutor(1) as threads:
        walking = threads.submit(write_on)
        try:
            steps = [
                (name, _spent(getattr(partitioning, name)))
                for name in ("prepare", "copy", "same", "swap", "analyze")
            ]
        finally:
            stop.set()
        walking.result()
    return [_step(name, *span, writes) for name, span in steps]


def _spent(work: object) -> tuple[float, float]:
    assert callable(work)
    begun = perf_counter()
    assert work() is not False, "the copy is not the same"
    return begun, perf_counter()


def _step(name: str, begun: float, ended: float, writes: list[tuple[float, float]]) -> Step:
    during = [end - start for start, end in writes if start < ended and end > begun]
    return Step(name, ended - begun, len(during), max(during, default=0.0))
