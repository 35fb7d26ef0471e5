"""The driver below SQLAlchemy: for what SQLAlchemy has no words for, and where its words cost.

COPY and pipelines are of the first kind. Leases and outcomes are of the second: a statement costs
the driver a fifth of what it costs through SQLAlchemy, and a worker starts thousands of jobs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import psycopg
from psycopg.rows import namedtuple_row
from sqlalchemy import Connection, Engine, exc

Raw: TypeAlias = psycopg.Connection[Any]
"""The driver's connection."""
Cursor: TypeAlias = psycopg.Cursor[Any]
"""Rows of a statement, by the names of their columns."""

BEGIN, COMMIT = b"BEGIN", b"COMMIT"


@contextmanager
def driver(connection: Connection) -> Iterator[Raw]:
    """Lend the driver's connection inside SQLAlchemy's transaction.

    Shape: the driver's errors leave as SQLAlchemy's, so that `translated` judges them alike, and
    a connection that broke does not go back to the pool.
    """
    with _errors_retold(
        _raw(connection.connection.driver_connection), connection.invalidate
    ) as raw:
        yield raw


@contextmanager
def lent(engine: Engine) -> Iterator[Raw]:
    """Lend a connection of the pool without SQLAlchemy, errors as with `driver`.

    Shape: each statement is a transaction of its own, but for those between `BEGIN` and `COMMIT`.
    Sent as statements in a pipeline, these two cost no round trips. What is not committed at the
    end is rolled back.
    """
    taken = engine.raw_connection()
    try:
        with _errors_retold(_raw(taken.driver_connection), taken.invalidate) as raw:
            raw.autocommit = True
            try:
                yield raw
            finally:
                if not raw.closed:
                    raw.rollback()
                    raw.autocommit = False
    finally:
        if taken.is_valid:
            taken.close()


def ask(raw: Raw, statement: bytes, told: Mapping[str, object]) -> Cursor:
    """Send a statement that stays prepared; in a pipeline its rows, with names, come later."""
    return raw.cursor(row_factory=namedtuple_row).execute(statement, told, prepare=True)


def array(values: Iterable[int | str | None]) -> str:
    """Give values as the text of an array: the driver's own way weighs each of them in Python."""
    return "{" + ",".join(map(_element, values)) + "}"


def _element(value: int | str | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{quoted}"'
    return str(value)


def _raw(connection: object) -> Raw:
    if not isinstance(connection, psycopg.Connection):
        raise TypeError(f"expected a connection of psycopg, not {type(connection).__name__}")
    return connection


@contextmanager
def _errors_retold(raw: Raw, invalidate: Callable[[], None]) -> Iterator[Raw]:
    try:
        yield raw
    except psycopg.Error as error:
        if raw.closed:
            invalidate()
        raise exc.DBAPIError.instance(
            None, None, error, psycopg.Error, connection_invalidated=raw.closed
        ) from error
