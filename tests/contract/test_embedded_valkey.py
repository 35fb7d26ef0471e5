"""What only the embedded Valkey does: its settings and what it keeps."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from redis import Redis

from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from ppcfetch.errors import ConfigurationError
from tests.servers import short_folder
from tests.waiting import wait_until


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made / "valkey"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("appendonly", "yes"),
        ("appendfsync", "everysec"),
        ("maxmemory-policy", "noeviction"),
        ("save", ""),
        ("port", "0"),
    ],
)
def test_it_is_set_up_to_lose_nothing_quietly(
    valkey_server: EmbeddedValkey, redis_url: str, name: str, value: str
) -> None:
    with Redis.from_url(redis_url, decode_responses=True) as client:
        assert client.config_get(name) == {name: value}


def test_it_is_a_valkey_that_speaks_streams(redis_url: str) -> None:
    with Redis.from_url(redis_url, decode_responses=True) as client:
        client.xgroup_create("stream", "group", id="0", mkstream=True)
        sent = client.xadd("stream", {"job": "1"})

        assert client.info("server")["server_name"] == "valkey"
        assert client.xautoclaim("stream", "group", "me", 0)[1] == []
        assert sent


def test_without_persistence_nothing_outlives_the_process(folder: Path) -> None:
    with EmbeddedValkey(folder, persistent=False) as server:
        with Redis.from_url(server.url) as client:
            client.set("kept", "no")
        os.kill(server.pid, signal.SIGKILL)
        wait_until(lambda: not server.alive(), describe="the killed server is gone")

        server.start()

        with Redis.from_url(server.url) as client:
            assert client.get("kept") is None


def test_it_runs_as_our_own_user(valkey_server: EmbeddedValkey) -> None:
    assert psutil.Process(valkey_server.pid).uids().real == os.geteuid()


def test_a_broken_log_of_writes_is_named_in_the_error(folder: Path) -> None:
    with EmbeddedValkey(folder) as server, Redis.from_url(server.url) as client:
        client.set("kept", "yes")
        client.bgrewriteaof()
    for part in (folder / "data" / "appendonlydir").glob("*.aof"):
        part.write_bytes(b"this is no log\n" + part.read_bytes())

    with pytest.raises(ConfigurationError, match=r"did not start: .*server\.log"):
        server.start()


def test_a_program_that_does_not_exist_is_named_in_the_error(folder: Path) -> None:
    server = EmbeddedValkey(folder, binary=folder / "no-server")

    with pytest.raises(ConfigurationError, match="no-server"):
        server.start()
