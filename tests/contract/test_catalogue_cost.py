"""What the site reads does not grow with the number of ads: counted in blocks, not in seconds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Engine, event, text

from ppcfetch.adapters.database.ad_marks import Mark
from ppcfetch.adapters.database.catalogue import Catalogue
from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.model.ad import AdFormat
from ppcfetch.model.domain import DomainName
from ppcfetch.model.page import AdQuery, AdSort

HUGE = DomainName("huge.example")
ADS = 40_000
LIMIT = 48
DEEP = {
    AdSort.LAST_SHOWN: datetime(2026, 10, 15, tzinfo=UTC),
    AdSort.FIRST_SHOWN: datetime(2025, 12, 15, tzinfo=UTC),
}
"""Behind half of the huge domain's ads."""
BLOCKS = 100
"""Far above what any page reads, far below what a scan of the huge domain reads."""

# One advertiser owns nearly everything; the rare ones, the rare format and what has no date lie
# at the end of every order.
FILL = f"""
INSERT INTO domains (domain, ads, text_ads, advertisers)
VALUES ('huge.example', {ADS}, {ADS}, 2), ('small.example', 10, 10, 1);
INSERT INTO advertisers SELECT 'AR' || n, 'Name ' || n FROM generate_series(1, 2) n;
INSERT INTO ads (domain, advertiser_id, creative_id, format, first_shown, last_shown, preview_kind,
    first_fetch_id, last_fetch_id)
SELECT 'huge.example', CASE WHEN n > {ADS - 20} THEN 'AR2' ELSE 'AR1' END, 'CR' || n,
    CASE WHEN n > {ADS - 5} THEN 3 ELSE 1 + mod(n, 2) END,
    CASE WHEN n < {ADS - 50} THEN timestamptz '2026-01-01' - n * interval '1 minute' END,
    CASE WHEN n < {ADS - 50} THEN timestamptz '2026-11-01' - n * interval '1 minute' END, 0, 1, 1
FROM generate_series(1, {ADS}) n;
INSERT INTO ads (domain, advertiser_id, creative_id, format, preview_kind, first_fetch_id,
    last_fetch_id)
SELECT 'small.example', 'AR1', 'CR' || n, 1, 0, 1, 1 FROM generate_series(1, 10) n;
INSERT INTO domain_advertisers (domain, advertiser_id, ads)
SELECT domain, advertiser_id, count(*) FROM ads GROUP BY 1, 2;
INSERT INTO domain_days SELECT 'huge.example', date '2026-11-30' - n, mod(n, 3) - 1
FROM generate_series(0, 2000) n;
"""  # noqa: S608 -- our own numbers


@dataclass
class Watched:
    """A catalogue, and every statement that it sends with its values."""

    catalogue: Catalogue
    engine: Engine
    sent: list[tuple[str, Any]] = field(default_factory=list)

    def plans(self, look: Callable[[Catalogue], object]) -> list[dict[str, Any]]:
        """Look at something; gives the plan of each statement, run once more."""
        self.sent.clear()
        look(self.catalogue)
        found = []
        with self.engine.connect() as connection:
            for statement, values in list(self.sent):
                explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}"
                (plan,) = connection.exec_driver_sql(explain, values).one()
                found.append(plan[0]["Plan"])
        return found


@pytest.fixture
def watched(database_url: str) -> Iterator[Watched]:
    engine = make_engine(database_url, application="test", pool_size=2)
    with engine.begin() as connection:
        connection.exec_driver_sql(FILL)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))
    reader = make_engine(database_url, application="test", pool_size=1, read_only=True)
    found = Watched(Catalogue(reader), engine)

    @event.listens_for(reader, "before_cursor_execute")
    def remember(*sent: Any) -> None:
        found.sent.append((sent[2], sent[3]))

    yield found
    reader.dispose()
    engine.dispose()


def blocks(plan: dict[str, Any]) -> int:
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from nodes(below)


def lists(catalogue: Catalogue) -> None:
    """Look at beginning, middle, end and back, in both orders, with every kind of filter."""
    for sort in AdSort:
        deep = Mark(sort, DEEP[sort], "AR1", "CR1").encoded()
        catalogue.domain_page(AdQuery(HUGE, sort=sort, before=deep), LIMIT)
        for query in (
            AdQuery(HUGE, sort=sort),
            AdQuery(HUGE, sort=sort, format=AdFormat.VIDEO),
            AdQuery(HUGE, sort=sort, format=AdFormat.UNKNOWN),
            AdQuery(HUGE, sort=sort, advertiser_id="AR2"),
            AdQuery(HUGE, sort=sort, advertiser_id="AR2", format=AdFormat.VIDEO),
        ):
            first = catalogue.domain_page(query, LIMIT).listed
            if first.older:
                second = catalogue.domain_page(
                    AdQuery(HUGE, sort=sort, after=first.older), LIMIT
                ).listed
                catalogue.domain_page(AdQuery(HUGE, sort=sort, before=second.newer), LIMIT)


def pages(catalogue: Catalogue) -> None:
    """Look at everything that is not a list of ads."""
    assert catalogue.domain_page(AdQuery(HUGE), LIMIT).ads == ADS
    catalogue.progress(HUGE)
    catalogue.summary(HUGE)
    assert catalogue.ad("AR1", "CR7").sightings
    assert catalogue.advertiser("AR1").domain_count == 2
    catalogue.search("hug", 8)
    assert catalogue.counts().ads == ADS + 10


@pytest.mark.parametrize("look", [lists, pages])
def test_no_page_reads_more_than_it_shows(
    watched: Watched, look: Callable[[Catalogue], None]
) -> None:
    plans = watched.plans(look)

    assert len(plans) > 8
    assert max(blocks(plan) for plan in plans) < BLOCKS
    for plan in plans:
        scans = [n for n in nodes(plan) if n["Node Type"] == "Seq Scan"]
        assert "ads" not in {n["Relation Name"] for n in scans}


def test_the_bound_notices_a_scan(watched: Watched) -> None:
    scan = "SELECT sum(days_shown) FROM ads"

    plans = watched.plans(lambda _: watched.sent.append((scan, ())))

    assert blocks(plans[0]) > 4 * BLOCKS
