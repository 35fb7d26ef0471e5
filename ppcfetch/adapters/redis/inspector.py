"""What operators and `explain` see of the streams; nothing here changes anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from redis import Redis
from redis.exceptions import ResponseError

from ppcfetch.adapters.redis.connections import command, translated
from ppcfetch.adapters.redis.consumers import Consumer, consumers_of
from ppcfetch.adapters.redis.keys import GROUP, Keys
from ppcfetch.adapters.redis.scripts import PACE, STREAM, Scripts
from ppcfetch.model.egress import EgressFacts
from ppcfetch.model.job import Pool
from ppcfetch.model.whereabouts import Whereabouts

KEYS_A_STEP = 1000


@dataclass(frozen=True, slots=True)
class PoolCounts:
    """How many messages a pool has.

    Shape: oldest_waiting is None when nothing waits; taken from the message's id, so only for
    display. orphans were read by somebody and are in no hand: nobody will be given them.
    """

    undelivered: int
    in_hand: int
    oldest_waiting: timedelta | None
    orphans: int = 0


@dataclass(frozen=True, slots=True)
class KnownConsumer:
    """A consumer's name, what it holds, and the process behind it.

    Shape: bearer is the incarnation that bears the name, None when no process does; idle is None
    for a name that never asked for messages.
    """

    pool: Pool
    name: str
    held: int
    idle: timedelta | None
    bearer: int | None

    @property
    def is_alive(self) -> bool:
        """Whether a process bears the name."""
        return self.bearer is not None


class RedisInspector:
    """Exact looks at the streams on one client."""

    def __init__(self, client: Redis, keys: Keys) -> None:
        self._client = client
        self._scripts = Scripts(client, STREAM)
        self._paces = Scripts(client, PACE)
        self._keys = keys

    def counts(self, pool: Pool) -> PoolCounts:
        """Count what waits and what is in hand, at one instant."""
        reply = self._scripts.run("counts", [self._keys.stream(pool)])
        undelivered, in_hand, oldest, orphans = reply
        waiting = timedelta(milliseconds=oldest) if undelivered else None
        return PoolCounts(undelivered, in_hand, waiting, orphans)

    def drained(self, pool: Pool) -> bool:
        """Tell whether nothing waits and nothing is in hand.

        Redis that lost everything looks drained, too: only the epoch tells the difference.
        """
        return bool(self._scripts.run("drained", [self._keys.stream(pool)]))

    def has_group(self, pool: Pool) -> bool:
        """Tell whether the pool's stream has its group."""
        with translated():
            try:
                groups = command(self._client, "XINFO", "GROUPS", self._keys.stream(pool))
            except ResponseError as exc:
                if "no such key" in str(exc):
                    return False
                raise
        return any(
            dict(zip(g[::2], g[1::2], strict=True))[b"name"] == GROUP.encode() for g in groups
        )

    def consumers(self) -> list[Consumer]:
        """List the consumers of all pools, by pool and name."""
        found = [one for pool in Pool for one in consumers_of(self._client, self._keys, pool)]
        return sorted(found, key=lambda one: (one.pool, one.name))

    def known_consumers(self) -> list[KnownConsumer]:
        """List all names by pool and name: those in the groups, and those that are only borne."""
        bearers = self.bearers()
        found = [_known(one, bearers.pop(one.name, None)) for one in self.consumers()]
        for name, incarnation in bearers.items():
            pool = self._keys.pool_of(name)
            if pool is not None:
                found.append(KnownConsumer(pool, name, 0, None, incarnation))
        return sorted(found, key=lambda one: (one.pool, one.name))

    def bearer(self, consumer: str) -> int | None:
        """Give the incarnation that bears a name, None when the name is free."""
        with translated():
            value = self._client.get(self._keys.consumer(consumer))
        return int(value) if isinstance(value, bytes) else None

    def bearers(self) -> dict[str, int]:
        """Give every name that a process bears, also one that never received anything."""
        prefix = self._keys.consumer("")
        with translated():
            keys = list(self._client.scan_iter(match=f"{prefix}*", count=KEYS_A_STEP))
            values = self._client.mget(keys) if keys else []
        return {
            key.decode().removeprefix(prefix): int(value)
            for key, value in sorted(zip(keys, values, strict=True))
            if value is not None
        }

    def egresses(self, names: Sequence[str]) -> list[EgressFacts]:
        """Tell how each way out does, in the order of the names."""
        reply = self._paces.run("look", [self._keys.pace(name) for name in names])
        return [
            EgressFacts(
                name=name,
                rest=timedelta(milliseconds=rest_ms),
                trying=bool(trying),
                rate=parts / 1_000_000,
                why=why.decode(errors="replace"),
            )
            for name, (rest_ms, trying, parts, why) in zip(names, reply, strict=True)
        ]

    def resting(self, egresses: Sequence[str]) -> timedelta:
        """Tell how long the archive may not be asked over any of these, zero while it may."""
        return min(one.rest for one in self.egresses(egresses))

    def where(self, job_id: int) -> Whereabouts | None:
        """Tell where the job's message is, None when nothing rings for it."""
        reply = self._scripts.run("where", self._keys.doorbell, [job_id])
        if reply is None:
            return None
        message, owner, idle, deliveries = reply
        pool, message_id = message.decode().split("|")
        return Whereabouts(
            pool=Pool(pool),
            message_id=message_id,
            consumer=owner.decode() or None,
            idle=timedelta(milliseconds=idle),
            deliveries=deliveries,
        )


def _known(one: Consumer, bearer: int | None) -> KnownConsumer:
    return KnownConsumer(one.pool, one.name, one.held, one.idle, bearer)
