"""Renewing and ending deliveries, each only while its token is still ours."""

from collections.abc import Sequence

from redis import Redis

from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.messages import encode
from ppcfetch.adapters.redis.scripts import STREAM, Argument, Scripts
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Token

DEAD_LETTERS_KEPT = 10_000
LONGEST_REASON = 500
LONGEST_RAW_BYTES = 4096


class RedisSettling:
    """Port Settling on one client, for the consumers of one pool.

    The pool is needed since a token names no stream and ids of two streams may be the same.
    """

    def __init__(self, client: Redis, keys: Keys, pool: Pool) -> None:
        self._scripts = Scripts(client, STREAM)
        self._keys = keys
        self._stream = keys.stream(pool)

    def renew(self, tokens: Sequence[Token]) -> frozenset[str]:
        """Set the entries that bear our token to idle 0; gives the message ids renewed."""
        if not tokens:
            return frozenset()
        arguments: list[Argument] = []
        for token in tokens:
            arguments += [token.message_id, token.consumer, token.deliveries]
        renewed = self._scripts.run("renew", [self._stream], arguments)
        return frozenset(message_id.decode() for message_id in renewed)

    def settle(self, deliveries: Sequence[Delivery]) -> int:
        """Acknowledge and delete entries and forget them as live; gives how many were ours."""
        if not deliveries:
            return 0
        arguments: list[Argument] = []
        for delivery in deliveries:
            arguments += _entry(delivery)
        return int(self._scripts.run("settle", self._keys.doorbell, arguments))

    def move(self, deliveries: Sequence[Delivery], pool: Pool) -> int:
        """Publish again in the pool and settle the old entry in one step; gives how many."""
        if not deliveries:
            return 0
        arguments: list[Argument] = [pool.value]
        for delivery in deliveries:
            # A payload that we cannot read may be a newer worker's: it goes on as it came.
            job_id = delivery.job_id
            arguments += [*_entry(delivery), delivery.raw if job_id is None else encode(job_id)]
        return int(self._scripts.run("move", self._keys.doorbell, arguments))

    def dead_letter(self, delivery: Delivery, reason: str) -> bool:
        """Add to the dead stream, then settle, in one step; False when not ours."""
        arguments = [
            *_entry(delivery),
            delivery.raw[:LONGEST_RAW_BYTES],
            reason[:LONGEST_REASON],
            DEAD_LETTERS_KEPT,
        ]
        keys = [*self._keys.doorbell, self._keys.dead]
        return bool(self._scripts.run("dead_letter", keys, arguments))


def _entry(delivery: Delivery) -> list[Argument]:
    token = delivery.token
    job = "" if delivery.job_id is None else delivery.job_id
    return [delivery.pool.value, token.message_id, token.consumer, token.deliveries, job]
