"""Lists of ads: each page costs what it shows, however many ads the domain has.

The indexes hold each format apart, newest first, unknown dates last. A stretch is read from the
mark on in each wanted format, known dates and unknown ones apart, and the few rows are merged:
no filter ever reads past ads that it does not show. One advertiser's ads are collected first
when they are few, and else looked for along the same indexes, where they cannot be rare.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row, text

from ppcfetch.adapters.database.ad_marks import Mark, read_mark
from ppcfetch.adapters.database.codes import FORMAT_CODES, FORMATS, PREVIEWS
from ppcfetch.errors import NotFound
from ppcfetch.model.ad import Ad, Preview
from ppcfetch.model.domain import DomainName
from ppcfetch.model.page import AdList, AdPage, AdQuery, AdSort, HeldAd

FEW = 50_000
"""The most ads of one advertiser that are collected and sorted for one list."""

_MOST_DOMAINS = 100
"""Of one ad; it usually leads to one."""

_OLDER = """
SELECT kept.*, advertisers.name FROM (
    SELECT found.* FROM unnest(CAST(:formats AS smallint[])) AS wanted (format)
    CROSS JOIN LATERAL (
        (
            SELECT * FROM {source}
            WHERE domain = :domain AND format = wanted.format AND {advertiser}
                AND {shown} <= :shown
                AND ({shown} < :shown OR (advertiser_id, creative_id) > (:after, :creative))
            ORDER BY {shown} DESC NULLS LAST, advertiser_id, creative_id LIMIT :count
        ) UNION ALL (
            SELECT * FROM {source}
            WHERE domain = :domain AND format = wanted.format AND {advertiser}
                AND {shown} IS NULL
                AND (:dated OR (advertiser_id, creative_id) > (:after, :creative))
            ORDER BY advertiser_id, creative_id LIMIT :count
        )
    ) found
    ORDER BY {shown} DESC NULLS LAST, advertiser_id, creative_id LIMIT :count
) kept LEFT JOIN advertisers USING (advertiser_id)
ORDER BY {shown} DESC NULLS LAST, advertiser_id, creative_id
"""

_NEWER = """
SELECT kept.*, advertisers.name FROM (
    SELECT found.* FROM unnest(CAST(:formats AS smallint[])) AS wanted (format)
    CROSS JOIN LATERAL (
        (
            SELECT * FROM {source}
            WHERE domain = :domain AND format = wanted.format AND {advertiser}
                AND NOT :dated AND {shown} IS NULL
                AND (advertiser_id, creative_id) < (:after, :creative)
            ORDER BY advertiser_id DESC, creative_id DESC LIMIT :count
        ) UNION ALL (
            SELECT * FROM {source}
            WHERE domain = :domain AND format = wanted.format AND {advertiser}
                AND {shown} >= :shown
                AND ({shown} > :shown OR (advertiser_id, creative_id) < (:after, :creative))
            ORDER BY {shown} NULLS FIRST, advertiser_id DESC, creative_id DESC LIMIT :count
        )
    ) found
    ORDER BY {shown} NULLS FIRST, advertiser_id DESC, creative_id DESC LIMIT :count
) kept LEFT JOIN advertisers USING (advertiser_id)
ORDER BY {shown} DESC NULLS LAST, advertiser_id, creative_id
"""

_COLLECTED = """
WITH mine AS MATERIALIZED (
    SELECT * FROM ads WHERE domain = :domain AND advertiser_id = :advertiser
)
"""

_HELD = text("""
SELECT ads FROM domain_advertisers WHERE domain = :domain AND advertiser_id = :advertiser
""")

_SIGHTINGS = text("""
SELECT ads.*, advertisers.name FROM ads LEFT JOIN advertisers USING (advertiser_id)
WHERE advertiser_id = :advertiser AND creative_id = :creative
ORDER BY domain LIMIT :count
""")


def list_ads(connection: Connection, query: AdQuery, limit: int, *, few: int = FEW) -> AdList:
    """Give a stretch of ads; an unreadable mark counts as the beginning.

    Shape: an advertiser with at most so few ads in the domain has them collected first.
    """
    collect = query.advertiser_id is not None and _held_of(connection, query) <= few
    read = partial(_read, connection, query, collect=collect, count=limit + 1)
    before = None if query.after else read_mark(query.before, query.sort)
    if before is not None:
        rows = read(_NEWER, before)
        if len(rows) > limit:
            kept = rows[1:]
            return _list(kept, query.sort, newer=kept[0], older=kept[-1])
        # Fewer than a page lie before the mark: the first page, whole.
    after = read_mark(query.after, query.sort)
    rows = read(_OLDER, after)
    kept = rows[:limit]
    return _list(
        kept,
        query.sort,
        newer=kept[0] if kept and after is not None else None,
        older=kept[-1] if len(rows) > limit else None,
    )


def one_ad(connection: Connection, advertiser_id: str, creative_id: str) -> AdPage:
    """Give an ad under each domain that it leads to. Raises: NotFound."""
    values = {"advertiser": advertiser_id, "creative": creative_id, "count": _MOST_DOMAINS}
    rows = connection.execute(_SIGHTINGS, values).all()
    if not rows:
        raise NotFound(f"there is no ad {creative_id} of advertiser {advertiser_id} here")
    return AdPage(tuple(map(_held, rows)))


def _read(
    connection: Connection,
    query: AdQuery,
    statement: str,
    mark: Mark | None,
    *,
    collect: bool,
    count: int,
) -> Sequence[Row[Any]]:
    values = {
        "domain": query.domain.name,
        "advertiser": query.advertiser_id,
        "formats": sorted(FORMATS) if query.format is None else [FORMAT_CODES[query.format]],
        "count": count,
        # Without a mark everything is behind it; a mark without a date is behind all dates.
        "dated": mark is None or mark.shown is not None,
        "shown": "infinity" if mark is None else mark.shown or "-infinity",
        "after": mark.advertiser_id if mark else "",
        "creative": mark.creative_id if mark else "",
    }
    read = statement.format(
        source="mine" if collect else "ads",
        advertiser="true" if query.advertiser_id is None else "advertiser_id = :advertiser",
        shown=query.sort.value,
    )
    return connection.execute(text(_COLLECTED + read if collect else read), values).all()


def _held_of(connection: Connection, query: AdQuery) -> int:
    values = {"domain": query.domain.name, "advertiser": query.advertiser_id}
    return connection.execute(_HELD, values).scalar() or 0


def _list(
    rows: Sequence[Row[Any]], sort: AdSort, *, newer: Row[Any] | None, older: Row[Any] | None
) -> AdList:
    return AdList(
        ads=tuple(map(_held, rows)),
        older=None if older is None else _mark(older, sort),
        newer=None if newer is None else _mark(newer, sort),
    )


def _mark(row: Row[Any], sort: AdSort) -> str:
    shown = row.last_shown if sort is AdSort.LAST_SHOWN else row.first_shown
    return Mark(sort, shown, row.advertiser_id, row.creative_id).encoded()


def _held(row: Row[Any]) -> HeldAd:
    preview = PREVIEWS[row.preview_kind]
    return HeldAd(
        domain=DomainName(row.domain),
        ad=Ad(
            advertiser_id=row.advertiser_id,
            creative_id=row.creative_id,
            advertiser_name=row.name,
            format=FORMATS[row.format],
            first_shown=row.first_shown,
            last_shown=row.last_shown,
            days_shown=row.days_shown,
            preview=Preview(preview, row.preview_url, row.preview_width, row.preview_height),
        ),
        first_fetch_id=row.first_fetch_id,
        last_fetch_id=row.last_fetch_id,
        changed_fetch_id=row.changed_fetch_id,
    )
