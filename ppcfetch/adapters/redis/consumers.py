"""The consumers of a pool's group."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from redis import Redis
from redis.exceptions import ResponseError

from ppcfetch.adapters.redis.connections import command, translated
from ppcfetch.adapters.redis.keys import GROUP, Keys
from ppcfetch.model.job import Pool

ABSENT = ("NOGROUP", "no such key")


@dataclass(frozen=True, slots=True)
class Consumer:
    """A name in a pool's group, how many deliveries it holds and how long it did nothing."""

    pool: Pool
    name: str
    held: int
    idle: timedelta


def consumers_of(client: Redis, keys: Keys, pool: Pool) -> list[Consumer]:
    """List the consumers of one pool; those that never received anything may be missing.

    Units: idle counts from the last successful read before Redis 7.2, from the last try after.
    """
    with translated():
        try:
            rows = command(client, "XINFO", "CONSUMERS", keys.stream(pool), GROUP)
        except ResponseError as exc:
            if any(words in str(exc) for words in ABSENT):
                return []
            raise
    return [_consumer(pool, row) for row in rows]


def _consumer(pool: Pool, row: list[Any]) -> Consumer:
    facts = dict(zip(row[::2], row[1::2], strict=True))
    idle = timedelta(milliseconds=facts[b"idle"])
    return Consumer(pool, facts[b"name"].decode(), facts[b"pending"], idle)
