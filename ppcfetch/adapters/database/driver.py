"""The driver below SQLAlchemy, for what SQLAlchemy has no words for: COPY and pipelines."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import Connection, exc


@contextmanager
def driver(connection: Connection) -> Iterator[psycopg.Connection[Any]]:
    """Lend the driver's connection inside SQLAlchemy's transaction.

    Shape: the driver's errors leave as SQLAlchemy's, so that `translated` judges them alike, and
    a connection that broke does not go back to the pool.
    """
    lent = connection.connection.driver_connection
    if not isinstance(lent, psycopg.Connection):
        raise TypeError(f"expected a connection of psycopg, not {type(lent).__name__}")
    try:
        yield lent
    except psycopg.Error as error:
        if lent.closed:
            connection.invalidate()
        raise exc.DBAPIError.instance(
            None, None, error, psycopg.Error, connection_invalidated=lent.closed
        ) from error
