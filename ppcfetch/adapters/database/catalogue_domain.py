"""A domain's page, read from counters: two million ads cost what twenty cost."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from sqlalchemy import Connection, Row, text

from ppcfetch.adapters.database.rows import FETCH_COLUMNS, fetch_of
from ppcfetch.adapters.database.waiting import waiting_of
from ppcfetch.errors import NotFound
from ppcfetch.model.ad import AdFormat, TotalRange
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, Freshness
from ppcfetch.model.page import AdvertiserShare, DomainPage, ProgressPage

ADVERTISERS = 50
FETCHES = 10
DAYS = 53 * 7
"""Days told of: 52 whole weeks and the running one."""

# The left join gives the database's time also for a domain that nobody has asked about.
_DOMAIN = text("""
SELECT clock.now, domains.* FROM (SELECT clock_timestamp() AS now) clock
LEFT JOIN domains ON domain = :domain
""")

_FETCHES = text(f"""
SELECT {FETCH_COLUMNS} FROM fetches WHERE domain = :domain ORDER BY id DESC LIMIT :count
""")  # noqa: S608 -- our own names

_FETCH = text(f"SELECT {FETCH_COLUMNS} FROM fetches WHERE id = :id")  # noqa: S608 -- our own names

_ADVERTISERS = text("""
SELECT held.advertiser_id, advertisers.name, held.ads, held.first_shown, held.last_shown
FROM domain_advertisers held LEFT JOIN advertisers USING (advertiser_id)
WHERE held.domain = :domain
ORDER BY held.ads DESC, held.advertiser_id LIMIT :count
""")

_DAYS = text("""
SELECT greatest(day, :first) AS day, CAST(sum(delta) AS bigint) AS delta
FROM domain_days WHERE domain = :domain AND day <= :last
GROUP BY 1 ORDER BY 1
""")


def domain_page(connection: Connection, domain: DomainName, lease: timedelta) -> DomainPage:
    """Give everything of a domain's page but its ads; of an unknown one an empty page."""
    row = connection.execute(_DOMAIN, {"domain": domain.name}).one()
    if row.domain is None:
        return DomainPage(
            domain=domain,
            now=row.now,
            known=False,
            freshness=Freshness(None, None),
            total=None,
            ads=0,
            formats=dict.fromkeys(AdFormat, 0),
            advertiser_count=0,
        )
    fetches = _fetches(connection, domain, FETCHES)
    return DomainPage(
        domain=domain,
        now=row.now,
        known=True,
        freshness=Freshness(row.checked_at, row.attempted_at),
        total=_total(row),
        ads=row.ads,
        formats=_formats(row),
        advertiser_count=row.advertisers,
        advertisers=largest_advertisers(connection, domain, ADVERTISERS),
        per_day=_per_day(connection, domain, row.now.date()),
        fetches=fetches,
        complete=_complete(connection, row),
        waiting=waiting_of(connection, fetches[0] if fetches else None, row.now, lease),
    )


def progress_page(connection: Connection, domain: DomainName, lease: timedelta) -> ProgressPage:
    """Give what of the page changes while a fetch runs. Raises: NotFound."""
    row = connection.execute(_DOMAIN, {"domain": domain.name}).one()
    if row.domain is None:
        raise NotFound(f"nobody has asked about {domain} yet")
    latest = next(iter(_fetches(connection, domain, 1)), None)
    return ProgressPage(
        domain=domain,
        now=row.now,
        freshness=Freshness(row.checked_at, row.attempted_at),
        total=_total(row),
        ads=row.ads,
        advertiser_count=row.advertisers,
        latest=latest,
        complete=_complete(connection, row),
        waiting=waiting_of(connection, latest, row.now, lease),
    )


def one_fetch(connection: Connection, fetch_id: int) -> Fetch:
    """Give a fetch. Raises: NotFound."""
    row = connection.execute(_FETCH, {"id": fetch_id}).one_or_none()
    if row is None:
        raise NotFound(f"there is no fetch {fetch_id}")
    return fetch_of(row)


def largest_advertisers(
    connection: Connection, domain: DomainName, count: int
) -> tuple[AdvertiserShare, ...]:
    """Give a domain's advertisers, those with the most ads first."""
    rows = connection.execute(_ADVERTISERS, {"domain": domain.name, "count": count})
    return tuple(AdvertiserShare(*row) for row in rows)


def running_counts(
    deltas: Iterable[tuple[date, int]], first: date, last: date
) -> Mapping[date, int]:
    """Give how many windows cover each day, from where windows begin and end.

    Shape: deltas are in the order of days, none before the first; days that none covers are
    left out.
    """
    changes = dict(deltas)
    counts: dict[date, int] = {}
    covering = 0
    for offset in range((last - first).days + 1):
        day = first + timedelta(days=offset)
        covering += changes.get(day, 0)
        if covering:
            counts[day] = covering
    return counts


def _fetches(connection: Connection, domain: DomainName, count: int) -> tuple[Fetch, ...]:
    rows = connection.execute(_FETCHES, {"domain": domain.name, "count": count})
    return tuple(map(fetch_of, rows))


def _complete(connection: Connection, domain: Row[Any]) -> Fetch | None:
    row = connection.execute(_FETCH, {"id": domain.complete_fetch_id}).one_or_none()
    return None if row is None else fetch_of(row)


def _per_day(connection: Connection, domain: DomainName, today: date) -> Mapping[date, int]:
    first = today - timedelta(days=DAYS - 1)
    values = {"domain": domain.name, "first": first, "last": today}
    rows = connection.execute(_DAYS, values)
    return running_counts(((row.day, row.delta) for row in rows), first, today)


def _total(row: Row[Any]) -> TotalRange | None:
    known = row.total_lower is not None and row.total_upper is not None
    return TotalRange(row.total_lower, row.total_upper) if known else None


def _formats(row: Row[Any]) -> Mapping[AdFormat, int]:
    counted = {
        AdFormat.TEXT: row.text_ads,
        AdFormat.IMAGE: row.image_ads,
        AdFormat.VIDEO: row.video_ads,
    }
    return counted | {AdFormat.UNKNOWN: row.ads - sum(counted.values())}
