"""A consumer's ends of the Redis in memory: deliveries, settling and its name."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from ppcfetch.adapters.redis.messages import encode
from ppcfetch.errors import NameLost
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Holder, Token
from tests.fakes_stream import Id, parse

if TYPE_CHECKING:
    from tests.fakes_redis import FakeRedis, State


class FakeName:
    """A consumer name, taken or to be taken."""

    def __init__(self, server: "FakeRedis", holder: Holder, lease: timedelta) -> None:
        self.holder = holder
        self._server = server
        self._lease = lease.total_seconds()

    def keep(self) -> None:
        if not self.taken():
            raise NameLost(f"another process bears the consumer name {self.holder.consumer}")

    def taken(self) -> bool:
        with self._server.step() as state:
            if self._server.bearer(self.holder.consumer) not in {None, self.holder.incarnation}:
                return False
            expires = self._server.now() + self._lease
            state.names[self.holder.consumer] = (self.holder.incarnation, expires)
            return True

    def release(self) -> None:
        with self._server.step() as state:
            if self._server.bearer(self.holder.consumer) == self.holder.incarnation:
                del state.names[self.holder.consumer]


class FakeDeliveries:
    """Port Deliveries."""

    def __init__(self, server: "FakeRedis", pool: Pool, holder: Holder, lease: timedelta) -> None:
        self._server = server
        self._pool = pool
        self._holder = holder
        self._lease = lease.total_seconds()

    def receive(self, count: int, block: timedelta) -> Sequence[Delivery]:
        with self._server.step() as state:
            stream = state.streams[self._pool]
            found = stream.read(self._holder.consumer, count, self._server.now())
        if not found:
            self._server.on_block(block)
        return found

    def accept(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        with self._server.step() as state:
            self._check_name(state)
            stream, now = state.streams[self._pool], self._server.now()
            own = [one for one in deliveries if one.token.consumer == self._holder.consumer]
            return [one for one in own if stream.touch(one.token, now)]

    def history(self, after: str, count: int) -> Sequence[Delivery]:
        with self._server.step() as state:
            self._check_name(state)
            return self._claim(state, self._own(state, 0, after=parse(after)), 0, count)

    def reconcile(self, in_hand: Collection[str], count: int) -> Sequence[Delivery]:
        held = {parse(message_id) for message_id in in_hand}
        with self._server.step() as state:
            self._check_name(state)
            found = [one for one in self._own(state, self._lease) if one not in held]
            return self._claim(state, found, self._lease, count)

    def abandoned(self, after: str, count: int) -> Sequence[Delivery]:
        with self._server.step() as state:
            stream = state.streams[self._pool]
            found = stream.idle(self._lease, self._server.now(), after=parse(after))
            own = self._own(state, self._lease)
            for message_id in [one for one in found if one not in stream.entries]:
                stream.remove(message_id)
            here = [one for one in found if one in stream.entries and one not in own]
            return [stream.delivery(message_id) for message_id in here[:count]]

    def claim(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        with self._server.step() as state:
            self._check_name(state)
            ids = [parse(one.token.message_id) for one in deliveries]
            return self._claim(state, ids, self._lease, len(ids))

    def _check_name(self, state: "State") -> None:
        """Take a free name back, as its keeper would."""
        bearer = self._server.bearer(self._holder.consumer)
        if bearer is None:
            expires = self._server.now() + self._lease
            state.names[self._holder.consumer] = (self._holder.incarnation, expires)
        elif bearer != self._holder.incarnation:
            raise NameLost(f"another process bears the consumer name {self._holder.consumer}")

    def _own(self, state: "State", min_idle: float, *, after: Id = (0, 0)) -> list[Id]:
        stream = state.streams[self._pool]
        own = set(stream.group.held_by(self._holder.consumer)) if stream.group else set()
        return [o for o in stream.idle(min_idle, self._server.now(), after=after) if o in own]

    def _claim(
        self, state: "State", ids: Sequence[Id], min_idle: float, count: int
    ) -> Sequence[Delivery]:
        stream, found = state.streams[self._pool], list[Delivery]()
        for message_id in ids:
            if len(found) == count:
                break
            one = stream.claim(self._holder.consumer, message_id, min_idle, self._server.now())
            found += [one] if one else []
        return found


class FakeSettling:
    """Port Settling for the consumers of one pool."""

    def __init__(self, server: "FakeRedis", pool: Pool) -> None:
        self._server = server
        self._pool = pool

    def renew(self, tokens: Sequence[Token]) -> frozenset[str]:
        with self._server.step() as state:
            stream, now = state.streams[self._pool], self._server.now()
            return frozenset(one.message_id for one in tokens if stream.touch(one, now))

    def settle(self, deliveries: Sequence[Delivery]) -> int:
        with self._server.step() as state:
            ours = [one for one in deliveries if _is_ours(state, one)]
            for delivery in ours:
                _end(state, delivery)
            return len(ours)

    def move(self, deliveries: Sequence[Delivery], pool: Pool) -> int:
        with self._server.step() as state:
            ours = [one for one in deliveries if _is_ours(state, one)]
            for delivery in ours:
                self._move(state, delivery, pool)
            return len(ours)

    def dead_letter(self, delivery: Delivery, reason: str) -> bool:
        with self._server.step() as state:
            if not _is_ours(state, delivery):
                return False
            self._server.bury(state, delivery, reason)
            _end(state, delivery)
            return True

    def _move(self, state: "State", delivery: Delivery, pool: Pool) -> None:
        message = (delivery.pool, parse(delivery.token.message_id))
        job_id = delivery.job_id
        if job_id is None:
            self._server.add(state.streams[pool], delivery.raw)
        elif (other := state.live.get(job_id, message)) == message or not state.streams[
            other[0]
        ].rings(other[1]):
            new = self._server.add(state.streams[pool], encode(job_id))
            state.live[job_id] = (pool, new)
        state.streams[delivery.pool].remove(message[1])


def _is_ours(state: "State", delivery: Delivery) -> bool:
    return state.streams[delivery.pool].bears(delivery.token)


def _end(state: "State", delivery: Delivery) -> None:
    message_id = parse(delivery.token.message_id)
    state.streams[delivery.pool].remove(message_id)
    if delivery.job_id is not None and state.live.get(delivery.job_id) == (
        delivery.pool,
        message_id,
    ):
        del state.live[delivery.job_id]
