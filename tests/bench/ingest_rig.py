"""Archive answers held in memory, the pipeline that stores them, and the bare COPY beside it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from time import perf_counter
from typing import Any

import psycopg
from sqlalchemy import Engine, text

from ppcfetch.adapters.archive.wire import read_page
from ppcfetch.adapters.database.page_rows import TYPES, row_of
from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.model.walk import behind
from tests.archive_answers import NOW
from tests.archive_reading import archive, query, text_of
from tests.contract.pages_rig import lease_of

DAY = timedelta(days=1)
_NAME = 2
"""Where the advertiser's name stands in a row of the page write; ads do not hold it."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Rows a second of the pipeline and of its floor."""

    ours: float
    floor: float

    def __str__(self) -> str:
        """Say it in a line."""
        rates = f"{self.ours:,.0f} against {self.floor:,.0f} rows a second"
        return f"{self.ours / self.floor:.2f} of a bare COPY ({rates})"


def answers(domain: str, count: int) -> list[bytes]:
    """Give the first pages of a domain as the archive sends them; none of them is the last."""
    source, cursor = archive(), None
    bodies = []
    for _ in range(count):
        body = text_of(source, query(domain, cursor=cursor))
        bodies.append(body.encode())
        cursor = json.loads(body)["2"]
    return bodies


def a_day_before(body: bytes) -> bytes:
    """Give the same answer as of the day before: every ad was last shown a day earlier."""
    told = json.loads(body)
    for row in told["1"]:
        if "7" in row:
            row["7"]["1"] = str(int(row["7"]["1"]) - int(DAY.total_seconds()))
    return json.dumps(told, separators=(",", ":")).encode()


class Pipeline:
    """One fetch of a domain: each answer is read and stored in a transaction of its own."""

    def __init__(self, engine: Engine, domain: str) -> None:
        self._pages = PostgresPages(engine)
        self._lease = lease_of(engine, domain)
        self.new = 0

    def store(self, body: bytes) -> None:
        """Decode, parse, upsert, count and commit."""
        job = self._lease.job
        page = read_page(body, now=NOW, query=job.query, cursor=job.checkpoint.cursor)
        progress = self._pages.write_page(self._lease, page, behind(job, page))
        self._lease = replace(self._lease, job=progress.job)
        self.new += progress.new


class BareCopy:
    """The floor: the same rows into a table with the same indexes, a commit a page."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        connection.execute("DROP TABLE IF EXISTS twin")
        connection.execute("CREATE TABLE twin (LIKE ads INCLUDING ALL)")
        connection.commit()

    def store(self, rows: Sequence[tuple[object, ...]]) -> None:
        """Copy a page of rows and commit."""
        with self._connection.cursor().copy("COPY twin FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(("text", *TYPES[:_NAME], *TYPES[_NAME + 1 :], "int8", "int8", "int8"))
            for row in rows:
                copy.write_row(row)
        self._connection.commit()


def rows_of(body: bytes, domain: str) -> list[tuple[object, ...]]:
    """Give an answer's ads as rows of the table, made beforehand: the floor only moves them."""
    ads = read_page(body, now=NOW).ads
    rows = [row_of(ad) for ad in ads]
    return [(domain, *row[:_NAME], *row[_NAME + 1 :], 1, 1, None) for row in rows]


def race(pipeline: Pipeline, bare: BareCopy, bodies: Sequence[bytes], domain: str) -> Speed:
    """Store all answers on both sides, page by page in turn, so that both meet the same machine."""
    ours = floor = 0.0
    count = 0
    for body in bodies:
        rows = rows_of(body, domain)
        count += len(rows)
        begun = perf_counter()
        bare.store(rows)
        between = perf_counter()
        pipeline.store(body)
        floor += between - begun
        ours += perf_counter() - between
    return Speed(count / ours, count / floor)


def end_fetches(engine: Engine) -> None:
    """Let the next fetch of a domain be another one."""
    with engine.begin() as connection:
        connection.execute(text("UPDATE jobs SET state = 'done'"))
        connection.execute(text("UPDATE fetches SET state = 'done'"))
