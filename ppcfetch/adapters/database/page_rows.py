"""The rows of one archive page, each ad once, as the page write takes them to the database."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from ppcfetch.adapters.database.codes import FORMAT_CODES, PREVIEW_CODES
from ppcfetch.adapters.database.page_arrays import Array, array
from ppcfetch.model.ad import Ad, AdFormat, PreviewKind

COLUMNS = (
    ("advertiser_id", "text"),
    ("creative_id", "text"),
    ("advertiser_name", "text"),
    ("format", "int2"),
    ("first_shown", "timestamptz"),
    ("last_shown", "timestamptz"),
    ("days_shown", "int4"),
    ("preview_kind", "int2"),
    ("preview_url", "text"),
    ("preview_width", "int4"),
    ("preview_height", "int4"),
)
"""Names and types of what the page write binds, in the order of `row_of`."""

TYPES = tuple(name for _, name in COLUMNS)

Row = tuple[object, ...]


def collapsed(ads: Iterable[Ad]) -> Iterable[Ad]:
    """Give each ad once: of a page that repeats one, the later row completes the earlier."""
    once: dict[tuple[str, str], Ad] = {}
    for ad in ads:
        key = (ad.advertiser_id, ad.creative_id)
        earlier = once.get(key)
        once[key] = ad if earlier is None else _merged(earlier, ad)
    return once.values()


def row_of(ad: Ad) -> Row:
    """Give an ad's row in the order of `COLUMNS`."""
    preview = ad.preview
    return (
        ad.advertiser_id,
        ad.creative_id,
        ad.advertiser_name,
        FORMAT_CODES[ad.format],
        ad.first_shown,
        ad.last_shown,
        ad.days_shown,
        PREVIEW_CODES[preview.kind],
        preview.url,
        preview.width,
        preview.height,
    )


def bound(ads: Iterable[Ad]) -> Mapping[str, Array]:
    """Give the columns of a page's ads, each ad once, by the names that the statement binds."""
    rows = [row_of(ad) for ad in collapsed(ads)]
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    return {
        name: array(kind, column) for (name, kind), column in zip(COLUMNS, columns, strict=True)
    }


def _merged(earlier: Ad, later: Ad) -> Ad:
    return replace(
        later,
        advertiser_name=later.advertiser_name or earlier.advertiser_name,
        format=earlier.format if later.format is AdFormat.UNKNOWN else later.format,
        first_shown=_earliest(earlier.first_shown, later.first_shown),
        last_shown=_latest(earlier.last_shown, later.last_shown),
        days_shown=_most(earlier.days_shown, later.days_shown),
        preview=earlier.preview if later.preview.kind is PreviewKind.NONE else later.preview,
    )


def _earliest(one: datetime | None, other: datetime | None) -> datetime | None:
    known = [when for when in (one, other) if when is not None]
    return min(known, default=None)


def _latest(one: datetime | None, other: datetime | None) -> datetime | None:
    known = [when for when in (one, other) if when is not None]
    return max(known, default=None)


def _most(one: int | None, other: int | None) -> int | None:
    known = [days for days in (one, other) if days is not None]
    return max(known, default=None)
