"""One way to reach the Redis in memory and real servers, for tests that run on both."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from typing import cast

from redis import Redis

from ppcfetch.adapters.redis.census import RedisCensus
from ppcfetch.adapters.redis.connections import command, connect
from ppcfetch.adapters.redis.dead_letters import RedisDeadLetters
from ppcfetch.adapters.redis.deliveries import RedisDeliveries
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.inspector import PoolCounts, RedisInspector
from ppcfetch.adapters.redis.keys import GROUP, Keys
from ppcfetch.adapters.redis.names import ConsumerName, take_name
from ppcfetch.adapters.redis.settling import RedisSettling
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Holder
from ppcfetch.model.whereabouts import Whereabouts
from ppcfetch.ports import Census, Consumers, DeadLetters, Deliveries, Doorbell, Settling
from tests.fakes_consumer import FakeName
from tests.fakes_redis import FakeRedis
from tests.fakes_stream import parse, show

LEASE = timedelta(minutes=1)
NOW = timedelta(0)
PAST_LEASE = timedelta(minutes=2)
INTERACTIVE = Pool.INTERACTIVE
BULK = Pool.BULK


class Rig(ABC):
    """The ports on one server, and what can happen to that server."""

    doorbell: Doorbell
    letters: DeadLetters
    operators: Consumers
    census: Census
    census_of_the_hasty: Census

    @abstractmethod
    def deliveries(
        self, consumer: str, incarnation: int = 1, *, pool: Pool = INTERACTIVE
    ) -> Deliveries: ...

    @abstractmethod
    def settling(self, pool: Pool = INTERACTIVE) -> Settling: ...

    @abstractmethod
    def take_name(
        self, incarnation: int, *, host: str = "host", lease: timedelta = LEASE
    ) -> ConsumerName | FakeName: ...

    @abstractmethod
    def bearer(self, consumer: str) -> int | None: ...

    @abstractmethod
    def counts(self, pool: Pool = INTERACTIVE) -> PoolCounts: ...

    @abstractmethod
    def drained(self, pool: Pool = INTERACTIVE) -> bool: ...

    @abstractmethod
    def where(self, job_id: int) -> Whereabouts | None: ...

    @abstractmethod
    def messages(self, pool: Pool = INTERACTIVE) -> list[str]: ...

    @abstractmethod
    def consumers(self, pool: Pool = INTERACTIVE) -> set[str]: ...

    @abstractmethod
    def live_jobs(self) -> set[int]: ...

    @abstractmethod
    def dead(self) -> list[tuple[int | None, bytes, str]]: ...

    @abstractmethod
    def add(self, payload: bytes, *, message_id: str = "*") -> None: ...

    @abstractmethod
    def age(self) -> None:
        """Let every pending entry be idle for longer than a lease."""

    @abstractmethod
    def advance(self, length: timedelta) -> None:
        """Let time pass where time can be told to; elsewhere it passes anyway."""

    @abstractmethod
    def expire_name(self, consumer: str) -> None: ...

    @abstractmethod
    def shorten_name(self, consumer: str, left: timedelta) -> None: ...

    @abstractmethod
    def name_is_held_for(self, consumer: str) -> timedelta: ...

    @abstractmethod
    def fill(self, *, full: bool = True) -> None: ...

    @abstractmethod
    def flushall(self) -> None: ...

    @abstractmethod
    def delete_stream(self) -> None: ...

    @abstractmethod
    def destroy_group(self) -> None: ...

    @abstractmethod
    def delete_consumer(self, consumer: str) -> None: ...

    @abstractmethod
    def delete_entry(self, message_id: str) -> None: ...

    def received(self, *jobs: int, by: str = "a") -> Sequence[Delivery]:
        """Publish jobs and have a consumer receive them."""
        self.doorbell.publish([(job, INTERACTIVE) for job in jobs])
        consumer = self.deliveries(by)
        self.census.ensure_groups()
        return consumer.receive(len(jobs), NOW)


class FakeRig(Rig):
    """The Redis in memory."""

    def __init__(self) -> None:
        self.server = FakeRedis()
        self.doorbell = self.letters = self.operators = self.server
        self.census = self.server
        self.census_of_the_hasty = FakeRedis(forgets_after=NOW)
        self.census_of_the_hasty.state = self.server.state

    def deliveries(
        self, consumer: str, incarnation: int = 1, *, pool: Pool = INTERACTIVE
    ) -> Deliveries:
        return self.server.deliveries(pool, Holder(consumer, incarnation), LEASE)

    def settling(self, pool: Pool = INTERACTIVE) -> Settling:
        return self.server.settling(pool)

    def take_name(
        self, incarnation: int, *, host: str = "host", lease: timedelta = LEASE
    ) -> FakeName:
        return self.server.take_name(host, INTERACTIVE, incarnation, lease)

    def bearer(self, consumer: str) -> int | None:
        return self.server.bearer(consumer)

    def counts(self, pool: Pool = INTERACTIVE) -> PoolCounts:
        return self.server.counts(pool)

    def drained(self, pool: Pool = INTERACTIVE) -> bool:
        return self.server.drained(pool)

    def where(self, job_id: int) -> Whereabouts | None:
        return self.server.where(job_id)

    def messages(self, pool: Pool = INTERACTIVE) -> list[str]:
        return [show(one) for one in self.server.state.streams[pool].entries]

    def consumers(self, pool: Pool = INTERACTIVE) -> set[str]:
        group = self.server.state.streams[pool].group
        return set(group.consumers) if group else set()

    def live_jobs(self) -> set[int]:
        return set(self.server.state.live)

    def dead(self) -> list[tuple[int | None, bytes, str]]:
        return [(one.job_id, one.raw, why) for one, why in self.server.state.dead]

    def add(self, payload: bytes, *, message_id: str = "*") -> None:
        stream = self.server.state.streams[INTERACTIVE]
        if message_id == "*":
            stream.add(payload, self.server.now())
        else:
            stream.newest = parse(message_id)
            stream.entries[stream.newest] = payload

    def age(self) -> None:
        self.server.advance(PAST_LEASE)
        for name, (incarnation, expires) in self.server.state.names.items():
            later = expires + PAST_LEASE.total_seconds()
            self.server.state.names[name] = (incarnation, later)

    def advance(self, length: timedelta) -> None:
        self.server.advance(length)

    def expire_name(self, consumer: str) -> None:
        self.server.expire_name(consumer)

    def shorten_name(self, consumer: str, left: timedelta) -> None:
        incarnation, _ = self.server.state.names[consumer]
        self.server.state.names[consumer] = (incarnation, self.server.now() + left.total_seconds())

    def name_is_held_for(self, consumer: str) -> timedelta:
        return timedelta(seconds=self.server.state.names[consumer][1] - self.server.now())

    def fill(self, *, full: bool = True) -> None:
        self.server.full = full

    def flushall(self) -> None:
        self.server.flushall()

    def delete_stream(self) -> None:
        self.server.delete_stream(INTERACTIVE)

    def destroy_group(self) -> None:
        self.server.destroy_group(INTERACTIVE)

    def delete_consumer(self, consumer: str) -> None:
        self.server.delete_consumer(INTERACTIVE, consumer)

    def delete_entry(self, message_id: str) -> None:
        self.server.delete_entry(INTERACTIVE, message_id)


class RealRig(Rig):
    """A server process."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.keys = Keys("{test}")
        self.connections = connect(url, block=timedelta(seconds=2))
        self.client: Redis = self.connections.rest
        self.doorbell = RedisDoorbell(self.client, self.keys)
        self.letters = RedisDeadLetters(self.client, self.keys)
        self.census = self.operators = RedisCensus(self.client, self.keys)
        self.census_of_the_hasty = RedisCensus(self.client, self.keys, idle=NOW)
        self._inspector = RedisInspector(self.client, self.keys)
        self._stream = self.keys.stream(INTERACTIVE)
        self._consumers: dict[tuple[str, int, Pool], Deliveries] = {}
        self._settlings = {pool: RedisSettling(self.client, self.keys, pool) for pool in Pool}

    def close(self) -> None:
        self.connections.close()

    def deliveries(
        self, consumer: str, incarnation: int = 1, *, pool: Pool = INTERACTIVE
    ) -> Deliveries:
        key = (consumer, incarnation, pool)
        if key not in self._consumers:
            self._consumers[key] = RedisDeliveries(
                self.connections,
                self.keys,
                pool=pool,
                holder=Holder(consumer, incarnation),
                lease=LEASE,
            )
        return self._consumers[key]

    def settling(self, pool: Pool = INTERACTIVE) -> Settling:
        return self._settlings[pool]

    def take_name(
        self, incarnation: int, *, host: str = "host", lease: timedelta = LEASE
    ) -> ConsumerName:
        return take_name(
            self.client,
            self.keys,
            host=host,
            pool=INTERACTIVE,
            incarnation=incarnation,
            lease=lease,
        )

    def bearer(self, consumer: str) -> int | None:
        return self._inspector.bearer(consumer)

    def counts(self, pool: Pool = INTERACTIVE) -> PoolCounts:
        return self._inspector.counts(pool)

    def drained(self, pool: Pool = INTERACTIVE) -> bool:
        return self._inspector.drained(pool)

    def where(self, job_id: int) -> Whereabouts | None:
        return self._inspector.where(job_id)

    def messages(self, pool: Pool = INTERACTIVE) -> list[str]:
        entries = command(self.client, "XRANGE", self.keys.stream(pool), "-", "+")
        return [message_id.decode() for message_id, _ in entries]

    def consumers(self, pool: Pool = INTERACTIVE) -> set[str]:
        return {one.name for one in self._inspector.consumers() if one.pool is pool}

    def live_jobs(self) -> set[int]:
        return {int(job) for job in command(self.client, "HKEYS", self.keys.live)}

    def dead(self) -> list[tuple[int | None, bytes, str]]:
        letters = RedisDeadLetters(self.client, self.keys).newest(count=100)
        return [(one.job_id, one.raw, one.reason) for one in reversed(letters)]

    def add(self, payload: bytes, *, message_id: str = "*") -> None:
        self.client.execute_command("XADD", self._stream, message_id, "d", payload)  # type: ignore[no-untyped-call]

    def age(self) -> None:
        idle = round(PAST_LEASE / timedelta(milliseconds=1))
        for row in self.client.xpending_range(self._stream, GROUP, "-", "+", 1000):
            owner, message_id = cast("bytes", row["consumer"]), row["message_id"]
            self.client.xclaim(self._stream, GROUP, owner, 0, [message_id], idle=idle, justid=True)

    def advance(self, length: timedelta) -> None: ...

    def expire_name(self, consumer: str) -> None:
        self.client.delete(self.keys.consumer(consumer))

    def shorten_name(self, consumer: str, left: timedelta) -> None:
        # Long enough for the test to keep the name before it is lost, however slow it is.
        self.client.pexpire(self.keys.consumer(consumer), left + LEASE / 2)

    def name_is_held_for(self, consumer: str) -> timedelta:
        left = int(self.client.pttl(self.keys.consumer(consumer)))
        return timedelta(milliseconds=left) - LEASE / 2

    def fill(self, *, full: bool = True) -> None:
        self.client.config_set("maxmemory", 1 if full else 0)

    def flushall(self) -> None:
        self.client.flushall()

    def delete_stream(self) -> None:
        self.client.delete(self._stream)

    def destroy_group(self) -> None:
        self.client.xgroup_destroy(self._stream, GROUP)

    def delete_consumer(self, consumer: str) -> None:
        self.client.xgroup_delconsumer(self._stream, GROUP, consumer)

    def delete_entry(self, message_id: str) -> None:
        self.client.xdel(self._stream, message_id)
