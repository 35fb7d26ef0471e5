"""What the archive tells about ads, in our own words."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from ppcfetch.model.domain import DomainName


class AdFormat(StrEnum):
    """How an ad is shown; UNKNOWN keeps a code that the archive added later."""

    TEXT = "text"
    IMAGE = "image"
    VIDEO = "video"
    UNKNOWN = "unknown"


class PreviewKind(StrEnum):
    """What the archive offers to look at: a picture, a script that draws, or nothing."""

    IMAGE = "image"
    SCRIPT = "script"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Preview:
    """Where an ad can be looked at.

    Shape: url is None exactly when kind is NONE; width and height are known for pictures only.
    Units: width and height are CSS pixels.
    """

    kind: PreviewKind
    url: str | None = None
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True, slots=True)
class Ad:
    """One ad as one archive page showed it.

    Shape: advertiser_name, dates and days_shown are None when the archive left them out or
    gave a value that cannot be true.
    Units: first_shown and last_shown are aware UTC; days_shown counts days with impressions.
    """

    advertiser_id: str
    creative_id: str
    advertiser_name: str | None
    format: AdFormat
    first_shown: datetime | None
    last_shown: datetime | None
    days_shown: int | None
    preview: Preview


@dataclass(frozen=True, slots=True)
class TotalRange:
    """How many ads the archive says a query has: exact below 100, one rounded digit above."""

    lower: int
    upper: int


@dataclass(frozen=True, slots=True)
class Query:
    """One question to the archive: the ads that lead to a domain, or a disjoint part of them.

    Shape: format None means all formats; first_day and last_day are both set or both None.
    """

    domain: DomainName
    format: AdFormat | None = None
    first_day: date | None = None
    last_day: date | None = None


@dataclass(frozen=True, slots=True)
class ArchivePage:
    """One page of a walk, newest last shown first.

    Shape: ads may be empty; next_cursor is None on the last page; total is None when the
    archive gave none; warnings say what was left out or repaired, one short text each.
    """

    ads: tuple[Ad, ...]
    next_cursor: str | None
    total: TotalRange | None
    warnings: tuple[str, ...] = ()
