"""Recorded answers, read as a worker would read them."""

from collections.abc import Iterator
from datetime import UTC, datetime

from ppcfetch.adapters.archive.wire import read_page
from ppcfetch.model.ad import Ad, ArchivePage

Line = dict[str, str | int | None]


def read_recorded(data: bytes) -> ArchivePage:
    """Give what we would store of an answer's body that somebody kept.

    Raises: as reading a live answer does, ArchiveChanged naming the field.
    """
    return read_page(data, now=datetime.now(UTC))


def as_lines(page: ArchivePage) -> Iterator[Line]:
    """Give one flat record an ad, in the order of the page, ready to be written as JSON."""
    return map(_line, page.ads)


def _line(ad: Ad) -> Line:
    return {
        "advertiser": ad.advertiser_id,
        "creative": ad.creative_id,
        "name": ad.advertiser_name,
        "format": ad.format.value,
        "first_shown": _text(ad.first_shown),
        "last_shown": _text(ad.last_shown),
        "days_shown": ad.days_shown,
        "preview": ad.preview.kind.value,
        "url": ad.preview.url,
        "width": ad.preview.width,
        "height": ad.preview.height,
    }


def _text(time: datetime | None) -> str | None:
    return time.isoformat() if time else None
