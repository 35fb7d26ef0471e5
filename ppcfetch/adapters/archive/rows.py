"""From the archive's rows to our ads: what cannot be true is left out and counted."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from ppcfetch.adapters.archive.answer import Moment, Row
from ppcfetch.adapters.archive.findings import Findings
from ppcfetch.adapters.archive.preview import read_preview
from ppcfetch.errors import ArchiveChanged
from ppcfetch.model.ad import Ad, AdFormat

FORMATS = {1: AdFormat.TEXT, 2: AdFormat.IMAGE, 3: AdFormat.VIDEO}
LONGEST_NAME = 500
MOST_DAYS = 100_000

_EARLIEST = int(datetime(2001, 1, 1, tzinfo=UTC).timestamp())
_AHEAD = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_DIGITS = 12
_SECOND_NANOS = 1_000_000_000
_ADVERTISER = re.compile(r"AR[0-9]{20}")
_CREATIVE = re.compile(r"CR[0-9]{20}")


@dataclass(slots=True)
class RowReader:
    """Reads the rows of one page.

    Shape: domain is what was asked for, None when that is not known.
    Units: now is aware UTC; what is said to have been shown a day later cannot be true.
    """

    now: datetime
    domain: str | None = None
    findings: Findings = field(default_factory=Findings)
    _latest: int = field(init=False)

    def __post_init__(self) -> None:
        self._latest = int((self.now + _AHEAD - _EPOCH).total_seconds())

    def read(self, rows: Iterable[Row | None]) -> tuple[Ad, ...]:
        """Give the ads in the order of their rows, each once, dates widened over repeats.

        Raises: ArchiveChanged when there are rows and none of them is one.
        """
        rows = list(rows)
        ads: dict[tuple[str, str], Ad] = {}
        for ad in self._in_order(rows):
            key = (ad.advertiser_id, ad.creative_id)
            known = ads.get(key)
            if known:
                self.findings.note("ad that the page shows twice")
            ads[key] = _widened(known, ad) if known else ad
        if rows and not ads:
            self._refuse(rows[0])
        return tuple(ads.values())

    def _in_order(self, rows: Iterable[Row | None]) -> Iterator[Ad]:
        before: datetime | None = None
        for ad in filter(None, map(self._ad, rows)):
            if before and ad.last_shown and ad.last_shown > before:
                self.findings.note("row out of order")
            before = ad.last_shown or before
            yield ad

    def _ad(self, row: Row | None) -> Ad | None:
        if row is None:
            self.findings.note("row that is no object")
            return None
        if _faulty_id(row):
            self.findings.note("row without a well-formed id")
            return None
        if self.domain and not _leads_to(row.domain, self.domain):
            self.findings.note("row of another domain")
        first, last = self._dates(row)
        return Ad(
            advertiser_id=row.advertiser or "",
            creative_id=row.creative or "",
            advertiser_name=self._name(row.name),
            format=self._format(row.format),
            first_shown=first,
            last_shown=last,
            days_shown=self._days(row.days),
            preview=read_preview(row.content, self.findings),
        )

    def _name(self, name: str | None) -> str | None:
        if not name:
            self.findings.note("row without a name")
            return None
        return self.findings.text(name, longest=LONGEST_NAME, name="name") or None

    def _format(self, code: int | None) -> AdFormat:
        known = FORMATS.get(code or 0)
        if known is None:
            self.findings.note("row without a known format")
        return known or AdFormat.UNKNOWN

    def _days(self, days: int | None) -> int | None:
        if days is None:
            self.findings.note("row without days shown")
        elif not 0 <= days <= MOST_DAYS:
            self.findings.note("number of days that cannot be true")
            return None
        return days

    def _dates(self, row: Row) -> tuple[datetime | None, datetime | None]:
        first = self._date(row.first_shown, "first shown")
        last = self._date(row.last_shown, "last shown")
        if first and last and first > last:
            # Both were seen; which is wrong is not ours to say, but "first" must not be later.
            self.findings.note("row first shown after it was last shown")
            return last, first
        return first, last

    def _date(self, moment: Moment | None, name: str) -> datetime | None:
        if moment is None or moment.seconds is None:
            self.findings.note(f"row without {name}")
            return None
        told, nanos = moment.seconds, moment.nanos or 0
        digits = len(told) <= _MOST_DIGITS and told.isascii() and told.isdecimal()
        if digits and 0 <= nanos < _SECOND_NANOS:
            seconds = int(told)
            if _EARLIEST <= seconds <= self._latest:
                return _EPOCH + timedelta(0, seconds, nanos // 1000)
        self.findings.note(f"{name} that cannot be true")
        return None

    def _refuse(self, row: Row | None) -> None:
        field_path = f"1[0].{_faulty_id(row)}" if row else "1[0]"
        raise ArchiveChanged(
            f"no row of the archive's page can be read; the first fault is at {field_path}",
            field=field_path,
        )


def _faulty_id(row: Row) -> str | None:
    """Give the key of the id that is not well formed."""
    if not _ADVERTISER.fullmatch(row.advertiser or ""):
        return "1"
    return None if _CREATIVE.fullmatch(row.creative or "") else "2"


def _leads_to(named: str | None, domain: str) -> bool:
    """Tell whether a row may be of the domain; a row that names none may be."""
    return not named or named == domain or named.endswith(f".{domain}")


def _widened(one: Ad, other: Ad) -> Ad:
    firsts = [ad.first_shown for ad in (one, other) if ad.first_shown]
    lasts = [ad.last_shown for ad in (one, other) if ad.last_shown]
    days = [ad.days_shown for ad in (one, other) if ad.days_shown is not None]
    return replace(
        one,
        first_shown=min(firsts, default=None),
        last_shown=max(lasts, default=None),
        days_shown=max(days, default=None),
    )
