"""A domain of two million ads beside one of two hundred, loaded straight into the tables.

The rows are spread alike: advertisers of very different sizes, all formats, days of four years, a
picture or a script to look at, in an order that has nothing to do with any index.
"""

from dataclasses import dataclass
from time import perf_counter

import psycopg

from tests.servers import libpq

HUGE, SMALL = "huge.example", "small.example"
ADS, FEW = 2_000_000, 200
ADVERTISERS = 5_000
STEP = 100_000
TABLES = ("ads", "domain_advertisers", "domain_days")

_FOUNDATION = """
INSERT INTO domains (domain, checked_at, attempted_at) VALUES (%(domain)s, now(), now());
INSERT INTO fetches (domain, state, reason, started_at, finished_at, pages, found, new)
VALUES (%(domain)s, 'done', 'person', now(), now(), %(ads)s / 100, %(ads)s, %(ads)s);
UPDATE domains SET complete_fetch_id = (SELECT max(id) FROM fetches WHERE domain = %(domain)s)
WHERE domain = %(domain)s
"""

_ADS = """
INSERT INTO ads (
    domain, advertiser_id, creative_id, format, first_shown, last_shown, days_shown,
    preview_kind, preview_url, preview_width, preview_height, first_fetch_id, last_fetch_id
)
SELECT %(domain)s, 'AR' || lpad((1 + advertiser)::text, 20, '0'), 'CR' || lpad(n::text, 20, '0'),
    format, last_shown - days * interval '1 day', last_shown, days, preview,
    CASE preview
        WHEN 1 THEN 'https://tpc.googlesyndication.com/archive/simgad/' || lpad(hash, 19, '7')
        ELSE 'https://displayads-formats.googleusercontent.com/ads/preview/content.js?client='
            || 'ads-integrity-transparency&obfuscatedCustomerId=' || lpad(hash, 10, '1')
            || '&creativeId=' || lpad(hash, 12, '2') || '&sig=' || repeat(md5(hash), 2)
            || '&htmlParentId=fletch-render-' || lpad(hash, 19, '3')
            || '&responseCallback=fletchCallback' || lpad(hash, 19, '3') END,
    CASE preview WHEN 1 THEN 348 END, CASE preview WHEN 1 THEN 209 END, fetches.id, fetches.id
FROM (
    SELECT n, abs(hashint8(n))::text AS hash,
        floor(%(advertisers)s * power(abs(hashint8(n * 7)) / 2147483648.0, 4))::bigint
            AS advertiser,
        (ARRAY[1, 1, 1, 2, 2, 3])[1 + abs(hashint8(n * 3) %% 6)] AS format,
        1 + abs(hashint8(n * 5) %% 4) / 2 AS preview,
        abs(hashint8(n * 11) %% 300) AS days,
        timestamptz '2026-11-29 12:00Z' - abs(hashint8(n * 13)) %% 126144000 * interval '1 second'
            AS last_shown
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) n
) drawn, fetches WHERE fetches.domain = %(domain)s
"""

_COUNTERS = """
INSERT INTO advertisers (advertiser_id, name)
SELECT DISTINCT advertiser_id, 'Company ' || advertiser_id || ' Ltd' FROM ads
WHERE domain = %(domain)s
ON CONFLICT DO NOTHING;
INSERT INTO domain_advertisers
SELECT domain, advertiser_id, count(*), min(first_shown), max(last_shown) FROM ads
WHERE domain = %(domain)s GROUP BY 1, 2;
INSERT INTO domain_days
SELECT domain, day, sum(delta) FROM ads CROSS JOIN LATERAL (VALUES
    ((first_shown AT TIME ZONE 'UTC')::date, 1), ((last_shown AT TIME ZONE 'UTC')::date + 1, -1)
) m (day, delta) WHERE domain = %(domain)s GROUP BY 1, 2;
UPDATE domains SET ads = counted.ads, text_ads = counted.text, image_ads = counted.image,
    video_ads = counted.video, total_lower = counted.ads, total_upper = counted.ads,
    advertisers = (SELECT count(*) FROM domain_advertisers d WHERE d.domain = %(domain)s)
FROM (
    SELECT count(*) AS ads, count(*) FILTER (WHERE format = 1) AS text,
        count(*) FILTER (WHERE format = 2) AS image, count(*) FILTER (WHERE format = 3) AS video
    FROM ads WHERE domain = %(domain)s
) counted WHERE domains.domain = %(domain)s
"""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What loading cost. Units: seconds; bytes."""

    seconds: float
    wal: int
    table: int
    indexes: dict[str, int]
    ads: int = ADS

    def __str__(self) -> str:
        """Say it in a few lines."""
        sizes = f"table {_mib(self.table)}, indexes {_mib(sum(self.indexes.values()))}"
        minutes = f"{self.seconds / 60:.1f} minutes"
        lines = [f"loaded {self.ads:,} ads in {minutes}: WAL {_mib(self.wal)}, {sizes}"]
        lines += [f"  {name}: {_mib(size)}" for name, size in self.indexes.items()]
        return "\n".join(lines)


def load(url: str, ads: int = ADS) -> Loaded:
    """Fill both domains with ads and counters, and let the planner know."""
    with psycopg.connect(libpq(url), autocommit=True) as connection:
        connection.execute("SET statement_timeout = 0")
        _fill(connection, SMALL, FEW)
        begun, wal = perf_counter(), _wal(connection)
        _fill(connection, HUGE, ads)
        spent, written = perf_counter() - begun, _wal(connection) - wal
        connection.execute("VACUUM ANALYZE")
        sizes = connection.execute(
            "SELECT indexrelid::regclass::text, pg_relation_size(indexrelid) FROM pg_index"
            " WHERE indrelid = 'ads'::regclass ORDER BY 1"
        ).fetchall()
        (table,) = connection.execute("SELECT pg_table_size('ads')").fetchall()[0]
    return Loaded(spent, written, table, dict(sizes), ads)


def _fill(connection: psycopg.Connection, domain: str, ads: int) -> None:
    values = {"domain": domain, "ads": ads, "advertisers": min(ADVERTISERS, ads)}
    client = psycopg.ClientCursor(connection)
    client.execute(_FOUNDATION, values)
    for first in range(1, ads + 1, STEP):
        last = min(first + STEP - 1, ads)
        client.execute(_ADS, values | {"first": first, "last": last})
    client.execute(_COUNTERS, values)


def _wal(connection: psycopg.Connection) -> int:
    (at,) = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchall()[0]
    return int(at)


def _mib(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"
