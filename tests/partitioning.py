"""Cutting the ads into partitions, with the very statements of `docs/scale.md`."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.servers import libpq

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
PARTITIONS = 16
TRIES = 20
"""A step that waited too long for a lock is repeated, as the page says."""


def statements(step: str) -> str:
    """Give the SQL of one step of the page: prepare, copy, compare, swap or analyze."""
    block = rf"^<!-- sql {step} -->\n```sql\n(.*?)\n```$"
    found = re.findall(block, PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(found) == 1, f"{PAGE.name} has {len(found)} steps named {step}"
    return str(found[0])


class Partitioning:
    """An operator with a terminal: each step is sent as it stands on the page."""

    def __init__(self, url: str) -> None:
        self._url = libpq(url)

    def prepare(self) -> None:
        """Make the partitioned twin, and let what is written to the ads be written to it too."""
        self._run("prepare")

    def copy(self) -> None:
        """Copy what was there before."""
        self._run("copy")

    def same(self) -> bool:
        """Tell whether both tables hold the same rows."""
        with self._connected() as connection:
            ((same,),) = connection.execute(statements("compare").encode()).fetchall()
        return bool(same)

    def swap(self) -> None:
        """Let the twin be the table."""
        self._run("swap")

    def analyze(self) -> None:
        """Let the planner know the whole table."""
        self._run("analyze")

    def _run(self, step: str) -> None:
        for _ in range(TRIES):
            with suppress(psycopg.errors.LockNotAvailable), self._connected() as connection:
                for statement in _apart(statements(step)):
                    connection.execute(statement.encode())
                return
        raise AssertionError(f"{step} found no moment without locks")

    def _connected(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self._url, autocommit=True)


def _apart(script: str) -> list[str]:
    """Give a script's statements one by one, as psql sends them."""
    parts, quoted, statement = [], False, ""
    for line in script.splitlines():
        statement += f"{line}\n"
        quoted ^= line.count("$$") % 2 == 1
        if not quoted and re.search(r";( --.*)?$", line):
            parts.append(statement)
            statement = ""
    assert not statement.strip(), statement
    return parts
