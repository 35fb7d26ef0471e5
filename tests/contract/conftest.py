"""The servers that every test about streams runs on."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from tests.contract.stream_rig import FakeRig, RealRig, Rig
from tests.servers import flush, heal

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
