"""Long statements whose named places are numbered once, not before each time they run.

psycopg numbers them itself, but remembers only short statements: the longest one of a page write
took longer to number than to bind.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg

_PLACE = re.compile(r"%\((\w+)\)[sb]")


@dataclass(frozen=True, slots=True)
class Numbered:
    """A statement with ``$1``, ``$2``, ... and the names of what goes there, in that order."""

    query: bytes
    names: tuple[str, ...]

    def run(
        self, connection: psycopg.Connection[Any], values: Mapping[str, Any]
    ) -> psycopg.RawCursor[Any]:
        """Run it as a prepared statement; values that it does not name are left alone."""
        cursor = psycopg.RawCursor(connection)
        return cursor.execute(self.query, [values[name] for name in self.names], prepare=True)


def numbered(statement: str) -> Numbered:
    """Give a statement whose places read ``%(name)s`` or ``%(name)b``."""
    names = tuple(dict.fromkeys(_PLACE.findall(statement)))
    query = _PLACE.sub(lambda place: f"${names.index(place[1]) + 1}", statement)
    return Numbered(query.encode(), names)
