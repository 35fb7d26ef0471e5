"""Migrations: what they lead to is what the code believes, from wherever one starts."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from click.testing import CliRunner
from sqlalchemy import exc, inspect, make_url, text

from ppcfetch.adapters.database import migrate
from ppcfetch.adapters.database.engine import make_engine, translated
from ppcfetch.adapters.database.schema_operators import metadata
from ppcfetch.cli import entry
from tests.contract.database_rig import RealRig
from tests.servers import Databases, libpq

ROWS_OF_THE_FIRST_REVISION = """
INSERT INTO domains (domain) VALUES ('shop.example');
INSERT INTO fetches (domain, reason) VALUES ('shop.example', 'person');
INSERT INTO jobs (fetch_id, kind, pool, domain, pages, cursor, fence)
VALUES (1, 'walk', 'interactive', 'shop.example', 3, 'cursor 3', 1);
"""


@pytest.fixture
def plain_url(databases: Databases) -> Iterator[str]:
    """A database of somebody who may make no roles and was granted none; odd letters in it."""
    name, owner = "per%cent and space", "plain"
    address = make_url(databases.server.url)
    with psycopg.connect(libpq(databases.server.url), autocommit=True) as server:
        server.execute(f"CREATE ROLE {owner} LOGIN PASSWORD 'open%40sesame'".encode())
        server.execute(f'CREATE DATABASE "{name}" OWNER {owner}'.encode())
    url = address.set(username=owner, password="open%40sesame", database=name)
    yield url.render_as_string(hide_password=False)
    with psycopg.connect(libpq(databases.server.url), autocommit=True) as server:
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
        server.execute(f"DROP ROLE {owner}".encode())


def differences(url: str) -> list[object]:
    """Give what alembic would change in the database to make it as the tables in the code."""
    engine = make_engine(url, application="migrations", pool_size=1)
    with engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        found = compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
        names = {check["name"] for check in inspect(connection).get_check_constraints("jobs")}
        sequences = set(inspect(connection).get_sequence_names())
    engine.dispose()
    assert names == {"jobs_state_check", "jobs_pool_check"}
    assert "incarnations" in sequences
    return list(found)


def epoch(url: str) -> str:
    with psycopg.connect(libpq(url)) as connection:
        [value] = connection.execute("SELECT value FROM facts WHERE name = 'epoch'").fetchall()
    return str(value[0])


def test_the_migrations_lead_to_the_tables_that_the_code_knows(database_url: str) -> None:
    assert differences(database_url) == []
    assert migrate.revision(database_url) == migrate.head()


def test_an_empty_database_has_no_revision(empty_database_url: str) -> None:
    assert migrate.revision(empty_database_url) is None


@pytest.mark.parametrize("earlier", migrate.revisions())
def test_every_earlier_revision_can_be_brought_to_the_newest(
    empty_database_url: str, earlier: str
) -> None:
    migrate.upgrade(empty_database_url, to=earlier)

    migrate.upgrade(empty_database_url)

    assert differences(empty_database_url) == []


def test_rows_of_the_first_revision_outlive_the_upgrade_by_command(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url, to="0001")
    with psycopg.connect(libpq(empty_database_url)) as connection:
        connection.execute(ROWS_OF_THE_FIRST_REVISION)
    drawn = epoch(empty_database_url)

    result = CliRunner(
        env={
            "PPCFETCH_DATABASE_URL": empty_database_url,
            "PPCFETCH_REDIS_URL": "redis://127.0.0.1:1",
        }
    ).invoke(entry, ["db", "upgrade", "--json"])

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"before": "0001", "after": migrate.head()}
    assert epoch(empty_database_url) == drawn
    rig = RealRig(empty_database_url)
    job, lease = rig.row(1), rig.lease(1)
    rig.close()
    assert (job.state, job.pages, job.checkpoint.cursor) == ("queued", 3, "cursor 3")
    assert lease.job.pages == 3


def test_upgrading_again_changes_nothing(database_url: str) -> None:
    before = epoch(database_url)

    migrate.upgrade(database_url)

    assert epoch(database_url) == before


def test_any_number_may_upgrade_at_once(empty_database_url: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        upgrades = [threads.submit(migrate.upgrade, empty_database_url) for _ in range(4)]

    assert [upgrade.exception() for upgrade in upgrades] == [None] * 4
    assert differences(empty_database_url) == []


def test_each_database_draws_an_epoch_of_its_own(databases: Databases) -> None:
    urls = [databases.empty(), databases.empty()]
    for url in urls:
        migrate.upgrade(url)

    epochs = {epoch(url) for url in urls}
    for url in urls:
        databases.drop(url)

    assert len(epochs) == 2


def test_who_may_not_make_roles_gets_tables_and_readers_that_cannot_write(
    plain_url: str,
) -> None:
    migrate.upgrade(plain_url)

    assert differences(plain_url) == []
    reader = make_engine(plain_url, application="reader", pool_size=1, read_only=True)
    with translated(), reader.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM domains")) == 0
        with pytest.raises(exc.InternalError, match="read-only"):
            connection.execute(text("INSERT INTO domains (domain) VALUES ('shop.example')"))
    reader.dispose()
