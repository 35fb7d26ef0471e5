"""Reading several things as they were at one moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from ppcfetch.adapters.database.engine import translated


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Lend a connection whose statements all see the database as the first one saw it.

    Raises: DatabaseUnavailable.
    """
    with translated(), engine.connect() as connection:
        connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        yield connection
