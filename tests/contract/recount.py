"""The counters beside what counting the ads gives."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine

from tests.contract.pages_rig import rows

_KEPT = {
    "domains": """
        SELECT domain, ads, text_ads, image_ads, video_ads, advertisers FROM domains ORDER BY 1
    """,
    "domain_advertisers": "SELECT * FROM domain_advertisers ORDER BY 1, 2",
    "domain_days": "SELECT domain, day, delta FROM domain_days WHERE delta <> 0 ORDER BY 1, 2",
    "fetches": """
        SELECT id, pages, found, new, changed FROM fetches
        WHERE id IN (SELECT max(id) FROM fetches GROUP BY domain)
        ORDER BY 1
    """,
}

_COUNTED = {
    "domains": """
        SELECT d.domain, count(a) AS ads, count(a) FILTER (WHERE format = 1) AS text_ads,
            count(a) FILTER (WHERE format = 2) AS image_ads,
            count(a) FILTER (WHERE format = 3) AS video_ads,
            count(DISTINCT a.advertiser_id) AS advertisers
        FROM domains d LEFT JOIN ads a USING (domain)
        GROUP BY 1 ORDER BY 1
    """,
    "domain_advertisers": """
        SELECT domain, advertiser_id, count(*) AS ads,
            min(first_shown) AS first_shown, max(last_shown) AS last_shown
        FROM ads GROUP BY 1, 2 ORDER BY 1, 2
    """,
    "domain_days": """
        SELECT domain, day, CAST(sum(delta) AS bigint) AS delta
        FROM ads CROSS JOIN LATERAL (VALUES
            (CAST(first_shown AT TIME ZONE 'UTC' AS date), 1),
            (CAST(last_shown AT TIME ZONE 'UTC' AS date) + 1, -1)
        ) AS moves (day, delta)
        WHERE first_shown <= last_shown
        GROUP BY 1, 2 HAVING sum(delta) <> 0 ORDER BY 1, 2
    """,
    # Only the newest fetch of a domain can be counted again: ads remember no others.
    "fetches": """
        SELECT f.id,
            (SELECT count(*) FROM page_log l JOIN jobs j ON j.id = job_id WHERE fetch_id = f.id)
                AS pages,
            count(a) FILTER (WHERE last_fetch_id = f.id) AS found,
            count(a) FILTER (WHERE first_fetch_id = f.id) AS new,
            count(a) FILTER (WHERE changed_fetch_id = f.id) AS changed
        FROM fetches f LEFT JOIN ads a ON a.domain = f.domain
        WHERE f.id IN (SELECT max(id) FROM fetches GROUP BY domain)
        GROUP BY 1 ORDER BY 1
    """,
}

Rows = list[Mapping[str, Any]]


def drift(engine: Engine) -> dict[str, tuple[Rows, Rows]]:
    """Give each table whose counters are not what counting gives; empty when all are right."""
    pairs = {name: (rows(engine, _KEPT[name]), rows(engine, _COUNTED[name])) for name in _KEPT}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
