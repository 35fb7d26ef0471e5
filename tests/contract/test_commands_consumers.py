"""`ppcfetch consumers` on real servers."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from ppcfetch.adapters.redis.census import RedisCensus
from ppcfetch.adapters.redis.connections import Connections, connect
from ppcfetch.adapters.redis.deliveries import RedisDeliveries
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.names import take_name
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Holder
from tests.contract.commands_rig import Commands

LEASE = timedelta(minutes=1)
NOW = timedelta(0)


@pytest.fixture
def redis(redis_url: str) -> Iterator[Connections]:
    """Clients of the commands' Redis, with its groups made."""
    made = connect(redis_url, block=timedelta(seconds=2))
    RedisCensus(made.rest, Keys()).ensure_groups()
    yield made
    made.close()


def receive(redis: Connections, name: str, job: int) -> None:
    """Let a consumer receive a job."""
    RedisDoorbell(redis.rest, Keys()).publish([(job, Pool.BULK)])
    holder = Holder(name, 1)
    RedisDeliveries(redis, Keys(), pool=Pool.BULK, holder=holder, lease=LEASE).receive(1, NOW)


def test_each_name_is_listed_with_what_it_holds_and_who_bears_it(
    commands: Commands, redis: Connections
) -> None:
    receive(redis, "host.bulk.7", 1)
    take_name(redis.rest, Keys(), host="host", pool=Pool.BULK, incarnation=9, lease=LEASE)

    rows = commands.json("consumers", "list")

    assert [(r["pool"], r["name"], r["held"], r["incarnation"], r["alive"]) for r in rows] == [
        ("bulk", "host.bulk.1", 0, 9, True),
        ("bulk", "host.bulk.7", 1, None, False),
    ]
    assert rows[0]["idle_seconds"] is None
    assert "host.bulk.7" in commands.run("consumers", "list").stdout


def test_a_name_that_holds_something_is_not_removed(commands: Commands, redis: Connections) -> None:
    receive(redis, "host.bulk.7", 1)

    result = commands.run("consumers", "remove", "host.bulk.7")

    assert "it holds deliveries" in str(result.exception)
    assert commands.database.audit.about("consumer host.bulk.7") == []


def test_an_idle_name_is_removed_and_the_deed_is_kept(
    commands: Commands, redis: Connections
) -> None:
    redis.rest.xgroup_createconsumer(Keys().stream(Pool.BULK), "workers", "host.bulk.7")

    done = commands.json("consumers", "remove", "host.bulk.7", "--reason", "machine is gone")

    assert done == {"removed": "host.bulk.7"}
    assert commands.json("consumers", "list") == []
    (noted,) = commands.database.audit.about("consumer host.bulk.7")
    assert noted.deed.reason == "machine is gone"
    assert noted.deed.who
