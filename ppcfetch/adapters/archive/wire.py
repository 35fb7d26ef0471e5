"""The wire: what is sent for a query, and what an answer means. Pure.

Source: recordings of the archive's web page; keys are numbers, and a request without its
context block or with more than a hundred rows a page is answered by nothing at all.
"""

import json
import re
from datetime import date, datetime
from urllib.parse import urlencode

from ppcfetch.adapters.archive.answer import Answer, decode
from ppcfetch.adapters.archive.findings import Findings
from ppcfetch.adapters.archive.rows import FORMATS, RowReader
from ppcfetch.errors import (
    ArchiveChanged,
    ArchiveRejected,
    ArchiveThrottled,
    ArchiveUnavailable,
)
from ppcfetch.model.ad import ArchivePage, Query, TotalRange

PATH = "/anji/_/rpc/SearchService/SearchCreatives?authuser=0"
PAGE_SIZE = 100
MOST_ROWS = 1_000
LONGEST_CURSOR = 4_096

_CONTEXT = {"1": 1, "2": 0, "3": 2840}
"""All topics, seen from the United States; without it the answer is empty."""

_CODES = {kept: code for code, kept in FORMATS.items()}
_COUNT = re.compile(r"[0-9]{1,18}")
_INVALID_ARGUMENT = 3
_RESOURCE_EXHAUSTED = 8


def request_body(query: Query, cursor: str | None) -> bytes:
    """Give the form that asks for one page.

    Raises: ArchiveRejected for a query that the archive has no words for.
    """
    wanted: dict[str, object] = {"12": {"1": query.domain.name, "2": True}}
    if query.format is not None:
        if query.format not in _CODES:
            raise ArchiveRejected(f"the archive cannot be asked for format {query.format.value}")
        wanted["4"] = _CODES[query.format]
    if query.first_day and query.last_day:
        wanted |= {"6": _day(query.first_day), "7": _day(query.last_day)}
    asked = {"2": PAGE_SIZE, "3": wanted} | ({"4": cursor} if cursor else {}) | {"7": _CONTEXT}
    return urlencode({"f.req": json.dumps(asked, separators=(",", ":"))}).encode()


def read_page(
    body: bytes, *, now: datetime, query: Query | None = None, cursor: str | None = None
) -> ArchivePage:
    """Give what an answer says.

    Shape: see `says_nothing` for an answer that may or may not mean "no ads". query and cursor
    are what was sent, None where that is not known.
    Raises: ArchiveUnavailable, ArchiveThrottled, ArchiveRejected, ArchiveChanged.
    """
    answer = decode(body)
    _refuse_error(answer)
    rows = answer.rows or []
    if len(rows) > MOST_ROWS:
        raise ArchiveChanged(f"the archive's page has {len(rows)} rows", field="1")
    reader = RowReader(now, domain=query.domain.name if query else None)
    ads = reader.read(rows)
    if len(rows) > PAGE_SIZE:
        reader.findings.note(f"page of more than {PAGE_SIZE} rows")
    next_cursor = _next_cursor(answer, cursor)
    if next_cursor and not rows:
        reader.findings.note("page without rows before the last one")
    total = _total(answer, reader.findings)
    return ArchivePage(ads, next_cursor, total, warnings=reader.findings.warnings())


def says_nothing(page: ArchivePage) -> bool:
    """Tell whether an answer was ``{}``: no ads, a request not understood, or a silent block."""
    return not page.ads and page.next_cursor is None and page.total is None


def one_line(text: str, longest: int = 200) -> str:
    """Make the archive's words safe to repeat: printable, on one line, and short."""
    words = "".join(char if char.isprintable() else " " for char in text).split()
    line = " ".join(words)
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def error_text(body: bytes) -> str:
    """Give what an error body says, as much of it as can be read."""
    try:
        message = decode(body).cursor
    except (ArchiveUnavailable, ArchiveChanged):
        message = None
    return one_line(message if message is not None else body.decode("utf-8", "replace"))


def _refuse_error(answer: Answer) -> None:
    """Refuse an error that came as if all were well."""
    if answer.rows is not None:
        return
    if answer.cursor is not None and "Exception" in answer.cursor:
        raise ArchiveRejected(f"the archive rejects the request: {one_line(answer.cursor)}")
    if isinstance(answer.upper, int) and answer.status is not None:
        message = f"the archive answers with error {answer.upper}, status {answer.status}"
        if answer.status == _RESOURCE_EXHAUSTED:
            raise ArchiveThrottled(message)
        if answer.status == _INVALID_ARGUMENT:
            raise ArchiveRejected(message)
        raise ArchiveUnavailable(message)


def _next_cursor(answer: Answer, sent: str | None) -> str | None:
    cursor = answer.cursor or None
    if cursor is None:
        return None
    if cursor == sent:
        raise ArchiveChanged("the archive gave back the cursor that it was sent", field="2")
    if len(cursor) > LONGEST_CURSOR or not (cursor.isascii() and cursor.isprintable()):
        raise ArchiveChanged(f"the archive's cursor has {len(cursor)} odd characters", field="2")
    return cursor


def _total(answer: Answer, findings: Findings) -> TotalRange | None:
    lower, upper = answer.lower, answer.upper
    if isinstance(upper, int):
        raise ArchiveChanged("the archive's field 5 is a number, not a text", field="5")
    if lower is None and upper is None:
        if answer.rows:
            findings.note("page without a total")
        return None
    if not (_COUNT.fullmatch(lower or "") and _COUNT.fullmatch(upper or "")):
        findings.note("total that cannot be true")
        return None
    low, high = int(lower or 0), int(upper or 0)
    if low > high:
        findings.note("total that cannot be true")
        return None
    return TotalRange(low, high)


def _day(day: date) -> int:
    return day.year * 10_000 + day.month * 100 + day.day
