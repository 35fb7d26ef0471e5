"""Bring a database to the newest schema, and tell which one it has."""

from pathlib import Path

import psycopg
import structlog
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, create_engine, text

import ppcfetch
from ppcfetch.adapters.database.engine import address_of, translated

_LOCK = 7_740_018_846_503_121_920
"""Any number, as long as nothing else in the database locks the same one."""


def upgrade(url: str, *, to: str = "head") -> None:
    """Bring the database to a revision, in one transaction; any number may do it at once.

    Raises: DatabaseUnavailable; then the schema is as it was, or done.
    """
    engine = create_engine(address_of(url), poolclass=NullPool, hide_parameters=True)
    with translated(), engine.begin() as connection:
        _log_warnings(connection)
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, to)


def revision(url: str) -> str | None:
    """Give the revision that the database is at, None when it has no tables of ours."""
    engine = create_engine(address_of(url), poolclass=NullPool, hide_parameters=True)
    with translated(), engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def head() -> str:
    """Give the newest revision that this code knows."""
    newest = ScriptDirectory.from_config(_config()).get_current_head()
    if newest is None:
        raise LookupError(f"no migrations in {_folder()}")
    return newest


def revisions() -> list[str]:
    """Give all revisions that this code knows, oldest first."""
    newest_first = ScriptDirectory.from_config(_config()).walk_revisions()
    return [script.revision for script in newest_first][::-1]


def _config() -> Config:
    config = Config()
    # Config interpolates percent signs, which a path may hold.
    config.set_main_option("script_location", str(_folder()).replace("%", "%%"))
    return config


def _folder() -> Path:
    return Path(ppcfetch.__file__).resolve().parent.parent / "migrations"


def _log_warnings(connection: Connection) -> None:
    driver = connection.connection.driver_connection
    if isinstance(driver, psycopg.Connection):
        driver.add_notice_handler(_log)


def _log(notice: psycopg.errors.Diagnostic) -> None:
    if notice.severity_nonlocalized == "WARNING":
        structlog.get_logger().warning("database.warned", text=notice.message_primary)
