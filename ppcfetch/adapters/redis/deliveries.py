"""One consumer's end of one pool's stream."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

from redis.exceptions import ResponseError

from ppcfetch.adapters.redis.connections import Connections, command, translated
from ppcfetch.adapters.redis.groups import ensure_group
from ppcfetch.adapters.redis.keys import GROUP, Keys
from ppcfetch.adapters.redis.messages import decode
from ppcfetch.adapters.redis.scripts import STREAM, Argument, Scripts
from ppcfetch.errors import NameLost
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Holder, Token

GROUP_IS_GONE = ("NOGROUP", "UNBLOCKED")
"""What the servers say when the stream or its group is lost: before, or under, a read."""


class RedisDeliveries:
    """Port Deliveries for the consumer that holder names.

    A lost group is made again at 0; on 6.2 a blocked read notices a loss only when it ends.
    """

    def __init__(
        self,
        connections: Connections,
        keys: Keys,
        *,
        pool: Pool,
        holder: Holder,
        lease: timedelta,
    ) -> None:
        self._reading = connections.reading
        self._scripts = Scripts(connections.rest, STREAM)
        self._pool = pool
        self._consumer = holder.consumer
        self._stream = keys.stream(pool)
        self._keys = [keys.consumer(holder.consumer), self._stream]
        self._lease_ms = _milliseconds(lease)
        self._guard: list[Argument] = [holder.incarnation, self._lease_ms, holder.consumer]

    def receive(self, count: int, block: timedelta) -> Sequence[Delivery]:
        """Wait for new messages, at most count; empty when none came."""
        if count < 1:
            return []
        with translated():
            try:
                reply = self._read(count, _milliseconds(block))
            except ResponseError as exc:
                if not str(exc).startswith(GROUP_IS_GONE):
                    raise
                ensure_group(self._reading, self._stream)
                return []
        entries = reply[0][1] if reply else []
        return [
            self._delivery(message_id, 1, [part for pair in fields.items() for part in pair])
            for message_id, fields in entries
        ]

    def accept(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Keep those whose token is still ours, idle set to 0, directly before `take`."""
        own = [one for one in deliveries if one.token.consumer == self._consumer]
        tokens = [(one.token.message_id, one.token.deliveries) for one in own]
        kept = self._guarded("accept", [part for token in tokens for part in token])
        ids = {message_id.decode() for message_id in kept}
        return [one for one in own if one.token.message_id in ids]

    def history(self, after: str, count: int) -> Sequence[Delivery]:
        """Claim own pending entries behind the id `after`, from "0" on; empty at the end."""
        return self._claimed("history", [after, count]) if count > 0 else []

    def reconcile(self, in_hand: Collection[str], count: int) -> Sequence[Delivery]:
        """Claim own pending entries idle for a lease that no slot holds."""
        return self._claimed("reconcile", [count, *in_hand]) if count > 0 else []

    def abandoned(self, after: str, count: int) -> Sequence[Delivery]:
        """Look, without claiming, at others' entries idle for a lease, behind the id `after`."""
        arguments: list[Argument] = [self._lease_ms, self._consumer, after, count]
        found = self._scripts.run("abandoned", [self._stream], arguments)
        return [
            self._delivery(message_id, counter, fields, owner.decode())
            for message_id, counter, fields, owner in found
        ]

    def claim(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Claim those still idle for a lease; of two rescuers one wins."""
        return self._claimed("claim", [one.token.message_id for one in deliveries])

    def _read(self, count: int, block_ms: int) -> Any:
        # BLOCK 0 would wait for ever.
        block: list[str | int] = ["BLOCK", block_ms] if block_ms > 0 else []
        return command(
            self._reading, "XREADGROUP", "GROUP", GROUP, self._consumer, "COUNT", count, *block,
            "STREAMS", self._stream, ">",
        )  # fmt: skip

    def _claimed(self, step: str, arguments: Sequence[Argument]) -> list[Delivery]:
        return [self._delivery(*entry) for entry in self._guarded(step, arguments)]

    def _guarded(self, step: str, arguments: Sequence[Argument]) -> Any:
        reply = self._scripts.run(step, self._keys, [*self._guard, *arguments])
        if reply is None:
            raise NameLost(f"another process bears the consumer name {self._consumer}")
        return reply

    def _delivery(
        self, message_id: bytes, counter: int, fields: Sequence[bytes], owner: str | None = None
    ) -> Delivery:
        token = Token(message_id.decode(), owner or self._consumer, counter)
        return decode(self._pool, token, fields)


def _milliseconds(length: timedelta) -> int:
    return round(length / timedelta(milliseconds=1))
