"""A list of domains as people keep it: one a line, or a column of a CSV file."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ppcfetch.errors import InvalidDomain
from ppcfetch.model.domain import DomainName

HEADERS = frozenset({"domain", "domains", "website", "url", "host", "hostname", "site"})
"""Names of a column that is taken when none is named."""
COMMENT = "#"
MOST_NAMES = 8
LONGEST_NAME = 40
"""Of columns in a hint."""


class UnknownColumn(ValueError):
    """The named column is not there."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a list. Shape: exactly one of domain and reason is None."""

    line: int
    domain: DomainName | None
    reason: str | None = None


def read_list(lines: Iterable[str], column: str | None = None) -> Iterator[Entry]:
    """Give the entries of a list; empty lines and comments are passed over.

    Shape: lines is text with or without line ends; a first line that names a column is a header.
    Raises: UnknownColumn when column is given and the first line does not name it.
    """
    place, is_first = 0, True
    for number, row in _rows(lines):
        if _is_empty(row):
            continue
        found = _column(row, column) if is_first else None
        was_first, is_first = is_first, False
        if found is not None:
            place = found
        elif was_first and len(row) > 1:
            yield _perhaps_header(_entry(number, row, place), row)
        else:
            yield _entry(number, row, place)


def _rows(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Give each line's cells; line by line, so that a stray quote ends with its line."""
    for number, line in enumerate(lines, 1):
        text = line.removeprefix("\ufeff") if number == 1 else line
        try:
            yield number, next(csv.reader([text.rstrip("\r\n")], skipinitialspace=True), [])
        except csv.Error:
            yield number, [text]


def _is_empty(row: list[str]) -> bool:
    return not any(cell.strip() for cell in row) or row[0].lstrip().startswith(COMMENT)


def _column(first: list[str], wanted: str | None) -> int | None:
    names = [cell.strip().casefold() for cell in first]
    if wanted is None:
        return next((n for n, name in enumerate(names) if name in HEADERS), None)
    if wanted.strip().casefold() not in names:
        raise UnknownColumn(f"no column {wanted!r}; the first line has: {', '.join(first)}")
    return names.index(wanted.strip().casefold())


def _perhaps_header(entry: Entry, row: list[str]) -> Entry:
    """Give an entry that is no domain a hint how to have another column read."""
    if entry.domain is not None:
        return entry
    names = ", ".join(repr(cell.strip())[1:-1][:LONGEST_NAME] for cell in row[:MOST_NAMES])
    more = ", …" if len(row) > MOST_NAMES else ""
    hint = f"this looks like CSV with the columns {names}{more}: choose one with --column"
    return replace(entry, reason=f"{entry.reason}; {hint}")


def _entry(line: int, row: list[str], place: int) -> Entry:
    if place >= len(row) or not row[place].strip():
        return Entry(line, None, "there is no domain")
    try:
        return Entry(line, DomainName.parse(row[place].strip()))
    except InvalidDomain as invalid:
        return Entry(line, None, str(invalid))
