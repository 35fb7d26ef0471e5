"""Connections to PostgreSQL: bounded waits, UTC, and errors told in our own words."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import psycopg
from sqlalchemy import URL, Engine, create_engine, event, exc, make_url

from ppcfetch.adapters.database.resting import ping_after_rest
from ppcfetch.errors import ConfigurationError, DatabaseUnavailable

__all__ = ["Engine", "address_of", "make_engine", "translated"]

READER_ROLE = "ppcfetch_reader"
"""May read every table but not the password hashes; made by the first migration."""

DRIVER = "postgresql+psycopg"
_POOL_WAIT = timedelta(seconds=5)
_CONNECT_WAIT = timedelta(seconds=5)
_SHORTEST_LOCK_WAIT = timedelta(seconds=1)
_SHORTEST_STATEMENT = timedelta(seconds=2)

_AWAY_CLASSES = frozenset({"08", "53", "57", "58"})
"""SQLSTATE classes: connection, resources, operator or timeout, system. 57 holds 57014, 57P01."""
_AWAY_STATES = frozenset({"25006", "25P03", "25P04", "40001", "40P01", "55P03"})
"""Read-only, as a standby is until it is promoted; idle too long in a transaction, transaction
timeout, serialisation, deadlock, lock timeout."""


def make_engine(
    url: str,
    *,
    application: str,
    pool_size: int,
    lease: timedelta | None = None,
    read_only: bool = False,
    one_plan: bool = False,
) -> Engine:
    """Give a pool of connections that never wait for long; nothing is connected yet.

    Shape: lease is set for workers: a process that was paused inside a transaction loses it
    before its lease ends, so that the row is free for the next holder. A read-only engine
    cannot write even where the reader's role could not be made. With one plan, prepared statements
    are planned once, by whatever values, instead of anew at each run: for those that only look
    for rows by their ids, where planning takes as long as running.
    Raises: ConfigurationError when the address is not one of PostgreSQL.
    """
    address = address_of(url)
    options = {"timezone": "UTC", **_timeouts(lease)}
    if read_only:
        options["default_transaction_read_only"] = "on"
    if one_plan:
        options["plan_cache_mode"] = "force_generic_plan"
    engine = create_engine(
        address,
        connect_args=_connect_args(address, application, options),
        hide_parameters=True,
        isolation_level="READ COMMITTED",
        max_overflow=0,
        # A worker asks before each use of a connection only where it may be gone: see `resting.py`.
        pool_pre_ping=lease is None,
        pool_size=pool_size,
        pool_timeout=_pool_wait(lease).total_seconds(),
        pool_use_lifo=True,
    )
    if read_only:
        event.listen(engine, "connect", _become_reader)
    if lease is not None:
        ping_after_rest(engine)
    return engine


def address_of(url: str) -> URL:
    """Give the address with our driver named.

    Raises: ConfigurationError, without the address, since it may hold a password.
    """
    try:
        address = make_url(url)
    except (exc.ArgumentError, ValueError):
        raise ConfigurationError("the database address cannot be read") from None
    if address.drivername not in {"postgres", "postgresql", DRIVER}:
        raise ConfigurationError(
            f"the database must be PostgreSQL; the address begins with {address.drivername}://"
        )
    return address.set(drivername=DRIVER)


@contextmanager
def translated() -> Iterator[None]:
    """Turn what means "no answer from the database" into DatabaseUnavailable.

    A reply lost during COMMIT is among it: then the work may have been done. Errors of our own
    making (integrity, syntax) stay as they are.
    """
    try:
        yield
    except exc.TimeoutError as error:
        raise DatabaseUnavailable("all connections to the database are busy") from error
    except exc.DBAPIError as error:
        if not _means_away(error):
            raise
        raise DatabaseUnavailable(f"the database gave no answer: {_words(error)}") from error


def _connect_args(address: URL, application: str, settings: dict[str, str]) -> dict[str, Any]:
    ours = " ".join(f"-c {name}={value}" for name, value in settings.items())
    theirs = address.query.get("options", "")
    return {
        "application_name": application,
        "connect_timeout": int(_CONNECT_WAIT.total_seconds()),
        "keepalives": 1,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,
        "options": f"{theirs if isinstance(theirs, str) else ' '.join(theirs)} {ours}".strip(),
    }


def _pool_wait(lease: timedelta | None) -> timedelta:
    return _POOL_WAIT if lease is None else min(_POOL_WAIT, lease / 4)


def _timeouts(lease: timedelta | None) -> dict[str, str]:
    statement, lock, idle = timedelta(seconds=15), timedelta(seconds=5), timedelta(minutes=1)
    if lease is not None:
        statement = max(lease / 2, _SHORTEST_STATEMENT)
        lock = max(lease / 4, _SHORTEST_LOCK_WAIT)
        idle = lease * 2 / 3
    return {
        "statement_timeout": _milliseconds(statement),
        "lock_timeout": _milliseconds(lock),
        "idle_in_transaction_session_timeout": _milliseconds(idle),
    }


def _milliseconds(length: timedelta) -> str:
    return str(max(1, round(length / timedelta(milliseconds=1))))


def _become_reader(connection: psycopg.Connection[Any], _record: object) -> None:
    before = connection.autocommit
    connection.autocommit = True
    # Where the role is missing or not granted, the read-only transactions have to do.
    with suppress(psycopg.errors.InvalidParameterValue, psycopg.errors.InsufficientPrivilege):
        connection.execute(f"SET ROLE {READER_ROLE}".encode())
    connection.autocommit = before


def _means_away(error: exc.DBAPIError) -> bool:
    if error.connection_invalidated or isinstance(error, exc.InterfaceError):
        return True
    state = _sqlstate(error)
    if state is None:
        # Refused, cut off, or the answer to COMMIT lost: the server had no chance to name it.
        return isinstance(error, exc.OperationalError)
    return state[:2] in _AWAY_CLASSES or state in _AWAY_STATES


def _sqlstate(error: exc.DBAPIError) -> str | None:
    state = getattr(error.orig, "sqlstate", None)
    return state if isinstance(state, str) else None


def _words(error: exc.DBAPIError) -> str:
    first_line = str(error.orig).strip().partition("\n")[0]
    state = _sqlstate(error)
    return f"{first_line} ({state})" if state else first_line
