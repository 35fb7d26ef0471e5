"""Consumer names that outlive processes, so that a restart finds its own pending entries.

A name is ``<host>.<pool>.<n>`` with the lowest free n. Its lock bears the incarnation of the
process and expires after a lease without its keeper.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import count

from redis import Redis

from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.scripts import STREAM, Scripts
from ppcfetch.errors import NameLost
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Holder


class ConsumerName:
    """A taken name; keep it every quarter lease from the thread that renews."""

    def __init__(self, client: Redis, keys: Keys, *, holder: Holder, lease: timedelta) -> None:
        self.holder = holder
        self._scripts = Scripts(client, STREAM)
        self._keys = [keys.consumer(holder.consumer)]
        self._arguments = [holder.incarnation, round(lease / timedelta(milliseconds=1))]

    def keep(self) -> None:
        """Hold the name a lease longer, taking it back when its lock has expired.

        Raises: NameLost when another process bears it: leave the process.
        """
        if not self.taken():
            raise NameLost(f"another process bears the consumer name {self.holder.consumer}")

    def taken(self) -> bool:
        """Take the name or hold it a lease longer; False when it is another's."""
        return bool(self._scripts.run("keep_name", self._keys, self._arguments))

    def release(self) -> None:
        """Free the name if it is ours; the last thing that a process does with it."""
        self._scripts.run("release_name", self._keys, self._arguments[:1])


def take_name(
    client: Redis, keys: Keys, *, host: str, pool: Pool, incarnation: int, lease: timedelta
) -> ConsumerName:
    """Give the lowest free name of a host and pool, its lock held for a lease."""
    for name in candidates(host, pool):
        taken = ConsumerName(client, keys, holder=Holder(name, incarnation), lease=lease)
        if taken.taken():
            return taken
    raise AssertionError("names never end")


def candidates(host: str, pool: Pool) -> Iterator[str]:
    """The names that a process of this host and pool may bear, in the order of trying."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", host) or "host"
    return (f"{plain}.{pool}.{number}" for number in count(1))
