"""The servers that every test about streams runs on."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from tests.contract import database_rig
from tests.contract.commands_rig import Commands
from tests.contract.stream_rig import FakeRig, RealRig, Rig
from tests.servers import Databases, flush, heal

EXTRA_REDIS = os.environ.get("EXTRA_REDIS")
"""The program of one more server to try, such as Redis 6.2; none by default."""

REAL = ["valkey", "redis 7.0", *(["extra"] if EXTRA_REDIS else [])]
URLS = {"valkey": "redis_url", "redis 7.0": "debian_redis_url", "extra": "extra_redis_url"}


@pytest.fixture(scope="session")
def extra_redis(server_folder: Path) -> Iterator[EmbeddedValkey]:
    """The server that the environment names."""
    server = EmbeddedValkey(server_folder / "extra", binary=Path(str(EXTRA_REDIS)))
    with server:
        yield server
    server.destroy()


@pytest.fixture
def extra_redis_url(extra_redis: EmbeddedValkey) -> str:
    """Its address, emptied for this test."""
    heal(extra_redis)
    flush(extra_redis.url)
    return extra_redis.url


@pytest.fixture(params=REAL)
def real_redis_url(request: pytest.FixtureRequest) -> str:
    """The address of each real server in turn."""
    return str(request.getfixturevalue(URLS[request.param]))


@pytest.fixture(params=["fake", *REAL])
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    """The stream ports on the Redis in memory and on each real server."""
    if request.param == "fake":
        yield FakeRig()
        return
    real = RealRig(request.getfixturevalue(URLS[request.param]))
    yield real
    real.close()


@pytest.fixture(scope="module")
def postgres_rig(databases: Databases) -> Iterator[database_rig.RealRig]:
    """One migrated database for a module: emptying it costs less than making another."""
    url = databases.migrated()
    real = database_rig.RealRig(url)
    yield real
    real.close()
    databases.drop(url)


@pytest.fixture
def postgres(postgres_rig: database_rig.RealRig) -> database_rig.RealRig:
    """The row ports on the real server, for what only happens between connections."""
    postgres_rig.empty()
    return postgres_rig


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Threads for calls that are to meet in the database."""
    with ThreadPoolExecutor(8) as pool:
        yield pool


@pytest.fixture(params=["fake", "postgres"])
def database(request: pytest.FixtureRequest) -> database_rig.Rig:
    """The row ports on the database in memory and on the real server."""
    if request.param == "fake":
        return database_rig.FakeRig()
    real = request.getfixturevalue("postgres")
    assert isinstance(real, database_rig.RealRig)
    return real


@pytest.fixture
def commands(postgres: database_rig.RealRig, redis_url: str) -> Commands:
    """The command line on real servers."""
    return Commands(postgres, redis_url, postgres.url)
