"""A page write looks at the ads of its page only, whatever the planner believes."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, text

from ppcfetch.adapters.database import page_statements as sql
from ppcfetch.adapters.database.driver import driver
from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.adapters.database.numbered import numbered
from ppcfetch.adapters.database.page_arrays import teach
from ppcfetch.adapters.database.page_rows import bound
from tests.contract.pages_rig import ad, fetched, lease_of

ADS = 20_000
PAGE_SIZE = 100
PICKED = range(1, ADS + 1, ADS // PAGE_SIZE)
BLOCKS = 40 * PAGE_SIZE
"""An upsert reads a few blocks of each index for each ad; a look through the domain hundreds."""

FILL = f"""
INSERT INTO ads (domain, advertiser_id, creative_id, format, preview_kind,
    first_fetch_id, last_fetch_id)
SELECT 'huge.example', 'AR' || mod(n, 500), 'CR' || n, 1, 0, 1, 1 FROM generate_series(1, {ADS}) n;
INSERT INTO domain_advertisers (domain, advertiser_id, ads)
SELECT domain, advertiser_id, count(*) FROM ads WHERE domain = 'huge.example' GROUP BY 1, 2
"""  # noqa: S608 -- our own number


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    made = make_engine(database_url, application="test", pool_size=2)
    yield made
    made.dispose()


def test_a_domain_that_statistics_do_not_know_is_not_looked_through(engine: Engine) -> None:
    # Given: statistics that know small domains, and a huge one that came since.
    for name in ("a.example", "b.example", "c.example"):
        fetched(engine, *(ad(n) for n in range(50)), domain=name)
    with engine.begin() as connection:
        for table in ("ads", "domain_advertisers"):
            connection.execute(text(f"ALTER TABLE {table} SET (autovacuum_enabled = false)"))
        connection.execute(text("ANALYZE"))
    lease = lease_of(engine, "huge.example")
    values: dict[str, Any] = {
        "domain": "huge.example", "fetch": lease.job.fetch_id, "job": lease.job.id, "pages": 0,
        "fence": 1, "holder": "w", "incarnation": 1, "cursor_in": None, "cursor": "c",
        "ads": PAGE_SIZE, "warnings": 0, "lower": None, "upper": None, "newest": None,
        "in_order": True, "to_end": False,
    }  # fmt: skip
    known = [ad(n, advertiser_id=f"AR{n % 500}", creative_id=f"CR{n}") for n in PICKED]

    # When
    with engine.begin() as connection:
        connection.execute(text(FILL))
        with driver(connection) as raw:
            teach(raw)
            explain = numbered(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql.STORE_PAGE}")
            ((plan,),) = explain.run(raw, values | dict(bound(known))).fetchall()

    # Then
    top = plan[0]["Plan"]
    assert top["Shared Hit Blocks"] + top["Shared Read Blocks"] < BLOCKS
