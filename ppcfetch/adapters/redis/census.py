"""What the sweeper asks of the streams, exactly and not by the clock."""

from collections.abc import Sequence
from datetime import timedelta

from redis import Redis

from ppcfetch.adapters.redis.connections import translated
from ppcfetch.adapters.redis.consumers import consumers_of
from ppcfetch.adapters.redis.groups import ensure_group
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.scripts import STREAM, Argument, Scripts
from ppcfetch.errors import Refused
from ppcfetch.model.job import Pool

ORPHANS_A_STEP = 200
STEPS_A_CALL = 50
STRAYS_A_CALL = 500
FIRST = "0-0"
A_DAY = timedelta(days=1)

FORGOTTEN = 1
REFUSALS = {-1: "it holds deliveries", -2: "a process bears its name", -3: "it was active lately"}


class RedisCensus:
    """Port Census on one client.

    Units: idle is how long a consumer must have done nothing before it may be forgotten.
    """

    def __init__(self, client: Redis, keys: Keys, *, idle: timedelta = A_DAY) -> None:
        self._client = client
        self._scripts = Scripts(client, STREAM)
        self._keys = keys
        self._idle_ms = round(idle / timedelta(milliseconds=1))
        self._orphans_after = dict.fromkeys(Pool, FIRST)
        self._strays_cursor = "0"

    def epoch(self) -> str | None:
        """Give the value that Redis bears, None when it lost everything."""
        with translated():
            value = self._client.get(self._keys.epoch)
        return value.decode() if isinstance(value, bytes) else None

    def restore(self, epoch: str) -> None:
        """Bear the database's value; called after everything active was published."""
        with translated():
            self._client.set(self._keys.epoch, epoch)

    def ensure_groups(self) -> None:
        """Make the groups at 0 where they are absent; destroys nothing."""
        with translated():
            for pool in Pool:
                ensure_group(self._client, self._keys.stream(pool))

    def delete_orphans(self) -> int:
        """Delete entries at or before last-delivered-id that nobody has pending.

        The next call goes on where the steps of this one end. Live entries that name nothing are
        forgotten meanwhile, a few a call.
        """
        self._forget_strays()
        return sum(self._delete_orphans(pool) for pool in Pool)

    def forget_consumers(self) -> Sequence[str]:
        """Remove consumers that hold nothing, have been idle a day and whose name is free."""
        return [
            name
            for pool in Pool
            for name in self._names(pool)
            if self._forget(pool, name, self._idle_ms) == FORGOTTEN
        ]

    def remove_consumer(self, name: str) -> bool:
        """Remove a consumer at an operator's wish, however short it was idle; False if unknown.

        Raises: Refused when it holds deliveries or a process bears its name.
        """
        answers = [self._forget(pool, name, 0) for pool in Pool]
        for answer in answers:
            if answer in REFUSALS:
                raise Refused(f"consumer {name} is kept: {REFUSALS[answer]}")
        return FORGOTTEN in answers

    def _forget(self, pool: Pool, name: str, idle_ms: int) -> int:
        keys = [self._keys.stream(pool), self._keys.consumer(name)]
        return int(self._scripts.run("forget_consumer", keys, [name, idle_ms]))

    def _names(self, pool: Pool) -> list[str]:
        return [consumer.name for consumer in consumers_of(self._client, self._keys, pool)]

    def _delete_orphans(self, pool: Pool) -> int:
        keys = [self._keys.stream(pool)]
        deleted = 0
        for _ in range(STEPS_A_CALL):
            arguments: list[Argument] = [self._orphans_after[pool], ORPHANS_A_STEP]
            count, after = self._scripts.run("delete_orphans", keys, arguments)
            deleted += count
            self._orphans_after[pool] = after.decode()
            if self._orphans_after[pool] == FIRST:
                break
        return deleted

    def _forget_strays(self) -> None:
        arguments: list[Argument] = [self._strays_cursor, STRAYS_A_CALL]
        cursor = self._scripts.run("forget_strays", self._keys.doorbell, arguments)
        self._strays_cursor = cursor.decode()
