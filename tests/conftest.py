"""Fixtures for every layer: who may open sockets, and the real servers.

One server of each kind runs per test process, started by the first test that asks for it.
A test may kill, suspend, stop and start it again: address and data stay, and the next test
that asks for a database or a Redis gets a running server.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from tests.servers import DEBIAN_REDIS, Databases, flush, heal, require, short_folder

_TESTS = Path(__file__).parent
_LAYERS_WITHOUT_SOCKETS = {"unit", "simulation"}
_LONGEST = {"test_chaos.py", "test_crash_matrix.py", "test_incident_command.py"}
_LOOPBACK = ["127.0.0.1", "::1", "localhost"]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let Unix sockets be: they lead to no other machine, and our servers listen on them."""
    config.option.allow_unix_socket = True


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before ``-m`` chooses by these marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark each test with its layer, which is its folder, and close what the layer may not use.

    Behind all other plugins the longest files come first: at the end none runs all by itself.
    """
    for item in items:
        layer = item.path.relative_to(_TESTS).parts[0]
        item.add_marker(getattr(pytest.mark, layer))
        if layer in _LAYERS_WITHOUT_SOCKETS:
            item.add_marker(pytest.mark.disable_socket)
        else:
            item.add_marker(pytest.mark.allow_hosts(_LOOPBACK))
    yield
    items.sort(key=lambda item: item.path.name not in _LONGEST)


@pytest.fixture(scope="session")
def server_folder() -> Iterator[Path]:
    """A folder for the servers of this test process."""
    with short_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def postgres_server(server_folder: Path) -> Iterator[EmbeddedPostgres]:
    """The PostgreSQL of this test process."""
    server = EmbeddedPostgres(server_folder / "postgres", durable=False)
    with server:
        yield server
    server.destroy()


@pytest.fixture(scope="session")
def databases(postgres_server: EmbeddedPostgres) -> Databases:
    """Makes databases for tests that need several, or one for a module."""
    return Databases(postgres_server)


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """The address of a database of this test's own: newest schema, no rows."""
    url = databases.migrated()
    yield url
    heal(databases.server)
    databases.drop(url)


@pytest.fixture
def empty_database_url(databases: Databases) -> Iterator[str]:
    """The address of a database of this test's own without any table."""
    url = databases.empty()
    yield url
    heal(databases.server)
    databases.drop(url)


@pytest.fixture(scope="session")
def valkey_server(server_folder: Path) -> Iterator[EmbeddedValkey]:
    """The Valkey of this test process; it keeps its data when it is killed and started again."""
    server = EmbeddedValkey(server_folder / "valkey")
    with server:
        yield server
    server.destroy()


@pytest.fixture
def redis_url(valkey_server: EmbeddedValkey) -> str:
    """The address of the Valkey, emptied for this test."""
    heal(valkey_server)
    flush(valkey_server.url)
    return valkey_server.url


@pytest.fixture(scope="session")
def debian_redis(server_folder: Path) -> Iterator[EmbeddedValkey]:
    """Debian's Redis 7.0, the oldest server that is tested."""
    require("Debian's redis-server", found=DEBIAN_REDIS.is_file())
    server = EmbeddedValkey(server_folder / "redis", binary=DEBIAN_REDIS)
    with server:
        yield server
    server.destroy()


@pytest.fixture
def debian_redis_url(debian_redis: EmbeddedValkey) -> str:
    """The address of Debian's Redis, emptied for this test."""
    heal(debian_redis)
    flush(debian_redis.url)
    return debian_redis.url
