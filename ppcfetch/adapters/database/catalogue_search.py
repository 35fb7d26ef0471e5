"""Finding advertisers and domains, and how much there is of everything."""

from typing import Any

from sqlalchemy import Connection, Row, text

from ppcfetch.errors import NotFound
from ppcfetch.model.domain import DomainName
from ppcfetch.model.page import AdvertiserPage, AdvertiserShare, Counts, DomainShare, Hits

DOMAINS = 50

_ADVERTISER = text("""
SELECT a.advertiser_id, a.name, CAST(coalesce(sum(held.ads), 0) AS bigint) AS ads,
    count(held.domain) AS domains
FROM advertisers a LEFT JOIN domain_advertisers held USING (advertiser_id)
WHERE a.advertiser_id = :advertiser
GROUP BY a.advertiser_id
""")

_ITS_DOMAINS = text("""
SELECT domain, ads, first_shown, last_shown FROM domain_advertisers
WHERE advertiser_id = :advertiser
ORDER BY ads DESC, domain LIMIT :count
""")

_DOMAINS_THAT_BEGIN = text("""
SELECT domain, ads FROM domains
WHERE domain >= :words AND domain < :beyond
ORDER BY domain LIMIT :count
""")

_ADVERTISERS_WITH = text("""
SELECT found.advertiser_id, found.name, CAST(coalesce(sum(held.ads), 0) AS bigint) AS ads,
    min(held.first_shown) AS first_shown, max(held.last_shown) AS last_shown
FROM (
    SELECT advertiser_id, name FROM advertisers
    WHERE strpos(lower(name), lower(:words)) > 0
    ORDER BY advertiser_id LIMIT :count
) found LEFT JOIN domain_advertisers held USING (advertiser_id)
GROUP BY 1, 2 ORDER BY ads DESC, 1
""")

# Small tables are counted; of large ones the planner's estimate is near enough. Of a partitioned
# table only the partitions have one that somebody keeps.
_COUNTS = text("""
WITH guessed AS MATERIALIZED (
    SELECT
        (SELECT reltuples FROM pg_class WHERE oid = CAST('domains' AS regclass)) AS domains,
        (SELECT reltuples FROM pg_class WHERE oid = CAST('advertisers' AS regclass)) AS advertisers,
        (
            SELECT sum(greatest(reltuples, 0)) FROM pg_class
            WHERE relkind = 'r' AND (oid = CAST('ads' AS regclass) OR oid IN (
                SELECT inhrelid FROM pg_inherits WHERE inhparent = CAST('ads' AS regclass)
            ))
        ) AS ads
)
SELECT
    CASE WHEN domains < :small THEN (SELECT count(*) FROM domains) ELSE domains END AS domains,
    CASE WHEN advertisers < :small
        THEN (SELECT count(*) FROM advertisers) ELSE advertisers END AS advertisers,
    CASE WHEN domains < :small
        THEN (SELECT coalesce(sum(ads), 0) FROM domains) ELSE ads END AS ads
FROM guessed
""")

_SMALL = 50_000
_LAST_CHARACTER = chr(0x10FFFF)


def one_advertiser(connection: Connection, advertiser_id: str) -> AdvertiserPage:
    """Give an advertiser with the domains it pays for most. Raises: NotFound."""
    values = {"advertiser": advertiser_id, "count": DOMAINS}
    row = connection.execute(_ADVERTISER, values).one_or_none()
    if row is None:
        raise NotFound(f"there is no advertiser {advertiser_id} here")
    domains = connection.execute(_ITS_DOMAINS, values)
    return AdvertiserPage(
        advertiser_id=row.advertiser_id,
        name=row.name,
        ads=row.ads,
        domain_count=row.domains,
        domains=tuple(map(_share, domains)),
    )


def find(connection: Connection, words: str, limit: int) -> Hits:
    """Give domains that begin with the words and advertisers whose name contains them."""
    begin = words.lower()
    values = {"words": begin, "beyond": begin + _LAST_CHARACTER, "count": limit}
    domains = connection.execute(_DOMAINS_THAT_BEGIN, values)
    advertisers = connection.execute(_ADVERTISERS_WITH, values)
    return Hits(
        domains=tuple(DomainShare(DomainName(row.domain), row.ads, None, None) for row in domains),
        advertisers=tuple(AdvertiserShare(*row) for row in advertisers),
    )


def count_all(connection: Connection) -> Counts:
    """Give how much is held of everything; large numbers are estimates."""
    row = connection.execute(_COUNTS, {"small": _SMALL}).one()
    return Counts(domains=int(row.domains), advertisers=int(row.advertisers), ads=int(row.ads))


def _share(row: Row[Any]) -> DomainShare:
    return DomainShare(DomainName(row.domain), row.ads, row.first_shown, row.last_shown)
