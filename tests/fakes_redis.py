"""Redis in memory on a virtual clock, for the four stream ports and the consumer names.

It keeps streams, pending lists and delivery counters as the servers do; the contract suite runs
the same tests on it and on them. What happens to real servers can be made to happen: `down`,
`full`, a lost reply, FLUSHALL, a rewind, deleted streams, groups, consumers and entries.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from threading import RLock

from ppcfetch.adapters.redis.inspector import PoolCounts
from ppcfetch.adapters.redis.messages import encode
from ppcfetch.errors import Refused, StreamUnavailable
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Holder
from ppcfetch.model.whereabouts import Whereabouts
from tests.fakes_consumer import FakeDeliveries, FakeName, FakeSettling
from tests.fakes_stream import FakeGroup, FakeStream, Id, parse, show


@dataclass(slots=True)
class State:
    """Everything the server knows; a copy of it is a backup."""

    streams: dict[Pool, FakeStream] = field(
        default_factory=lambda: {pool: FakeStream(pool) for pool in Pool}
    )
    live: dict[int, tuple[Pool, Id]] = field(default_factory=dict)
    dead: list[tuple[Delivery, str]] = field(default_factory=list)
    names: dict[str, tuple[int, float]] = field(default_factory=dict)
    epoch: str | None = None


class FakeRedis:
    """The server; itself a Doorbell and a Census.

    Units: now gives seconds; `advance` adds to them. A blocked read returns at once, behind a
    call of on_block with the time that it would have waited.
    """

    def __init__(
        self,
        now: Callable[[], float] = lambda: 1_000.0,
        *,
        forgets_after: timedelta = timedelta(days=1),
        on_block: Callable[[timedelta], None] = lambda _: None,
    ) -> None:
        self.state = State()
        self.down = False
        self.full = False
        self.lose_next_reply = False
        self.on_block = on_block
        self._now = now
        self._ahead = 0.0
        self._forgets_after = forgets_after.total_seconds()
        self._one_at_a_time = RLock()

    # The clock and the ways to reach the server

    def now(self) -> float:
        return self._now() + self._ahead

    def advance(self, length: timedelta) -> None:
        self._ahead += length.total_seconds()

    @contextmanager
    def step(self) -> Iterator[State]:
        """One command or script: done whole or not at all, its reply perhaps lost."""
        with self._one_at_a_time:
            if self.down:
                raise StreamUnavailable("Redis cannot be reached")
            yield self.state
            if self.lose_next_reply:
                self.lose_next_reply = False
                raise StreamUnavailable("Redis did not answer in time")

    def add(self, stream: FakeStream, payload: bytes) -> Id:
        if self.full:
            raise StreamUnavailable("Redis refused: OOM")
        return stream.add(payload, self.now())

    def deliveries(self, pool: Pool, holder: Holder, lease: timedelta) -> FakeDeliveries:
        return FakeDeliveries(self, pool, holder, lease)

    def settling(self, pool: Pool) -> FakeSettling:
        return FakeSettling(self, pool)

    def take_name(self, host: str, pool: Pool, incarnation: int, lease: timedelta) -> FakeName:
        number = 1
        while True:
            holder = Holder(f"{host}.{pool}.{number}", incarnation)
            name = FakeName(self, holder, lease)
            if name.taken():
                return name
            number += 1

    # Doorbell

    def publish(self, jobs: Sequence[tuple[int, Pool]]) -> int:
        with self.step() as state:
            return sum(self.ring(state, job_id, pool) for job_id, pool in jobs)

    def ring(self, state: State, job_id: int, pool: Pool) -> bool:
        old = state.live.get(job_id)
        if old and state.streams[old[0]].rings(old[1]):
            is_in_hand = state.streams[old[0]].entry(old[1]) is not None
            if is_in_hand or old[0] is pool:
                return False
        state.live[job_id] = (pool, self.add(state.streams[pool], encode(job_id)))
        if old:
            state.streams[old[0]].remove(old[1])
        return True

    def bury(self, state: State, delivery: Delivery, reason: str) -> None:
        if self.full:
            raise StreamUnavailable("Redis refused: OOM")
        state.dead.append((delivery, reason))

    # Census

    def epoch(self) -> str | None:
        with self.step() as state:
            return state.epoch

    def restore(self, epoch: str) -> None:
        with self.step() as state:
            state.epoch = epoch

    def ensure_groups(self) -> None:
        with self.step() as state:
            for stream in state.streams.values():
                stream.make_group()

    def delete_orphans(self) -> int:
        with self.step() as state:
            found = [(stream, one) for stream in state.streams.values() for one in stream.orphans()]
            for stream, message_id in found:
                stream.remove(message_id)
            kept = {j: at for j, at in state.live.items() if at[1] in state.streams[at[0]].entries}
            state.live = kept
            return len(found)

    def forget_consumers(self) -> Sequence[str]:
        with self.step() as state:
            groups = [stream.group for stream in state.streams.values() if stream.group]
            found = [
                (g, name) for g in groups for name in g.consumers if self._forgettable(g, name)
            ]
            for group, name in found:
                del group.consumers[name]
            return [name for _, name in found]

    def remove_consumer(self, name: str) -> bool:
        """Port Consumers."""
        with self.step() as state:
            found = [
                s.group for s in state.streams.values() if s.group and name in s.group.consumers
            ]
            for group in found:
                if group.held_by(name):
                    raise Refused(f"consumer {name} is kept: it holds deliveries")
                if self.bearer(name) is not None:
                    raise Refused(f"consumer {name} is kept: a process bears its name")
            for group in found:
                del group.consumers[name]
            return bool(found)

    def _forgettable(self, group: FakeGroup, name: str) -> bool:
        fresh = self.now() - group.consumers[name] < self._forgets_after
        return not fresh and not group.held_by(name) and self.bearer(name) is None

    # What operators see

    def bearer(self, consumer: str) -> int | None:
        incarnation, expires = self.state.names.get(consumer, (None, 0.0))
        return incarnation if expires > self.now() else None

    def counts(self, pool: Pool) -> PoolCounts:
        with self.step() as state:
            stream = state.streams[pool]
            waiting = [one for one in stream.entries if one > stream.read_up_to()]
            in_hand = len(stream.group.pending) if stream.group else 0
            read = len(stream.entries) - len(waiting)
            oldest = self.now() - waiting[0][0] / 1000 if waiting else None
            age = None if oldest is None else timedelta(seconds=max(oldest, 0.0))
            return PoolCounts(len(waiting), in_hand, age, max(read - in_hand, 0))

    def forget(self, job_ids: Collection[int]) -> int:
        """Port DeadLetters."""
        with self.step() as state:
            kept = [one for one in state.dead if one[0].job_id not in job_ids]
            forgotten, state.dead = len(state.dead) - len(kept), kept
            return forgotten

    def drained(self, pool: Pool) -> bool:
        counts = self.counts(pool)
        return not counts.undelivered and not counts.in_hand

    def where(self, job_id: int) -> Whereabouts | None:
        with self.step() as state:
            pool, message_id = state.live.get(job_id, (Pool.BULK, (0, 0)))
            if not state.streams[pool].rings(message_id):
                return None
            entry = state.streams[pool].entry(message_id)
            if entry is None:
                return Whereabouts(pool, show(message_id), None, timedelta(0), 0)
            idle = timedelta(seconds=self.now() - entry.since)
            return Whereabouts(pool, show(message_id), entry.consumer, idle, entry.deliveries)

    # What may happen to a server

    def flushall(self) -> None:
        self.state = State()
        self._tick()

    def backup(self) -> State:
        return deepcopy(self.state)

    def rewind(self, backup: State) -> None:
        """Come up again as it was once; locks that would have expired meanwhile have."""
        self.state = deepcopy(backup)
        self._tick()

    def _tick(self) -> None:
        """Time passes, so that a new stream does not give out the ids of the lost one."""
        self.advance(timedelta(milliseconds=1))

    def delete_stream(self, pool: Pool) -> None:
        self.state.streams[pool] = FakeStream(pool)
        self._tick()

    def destroy_group(self, pool: Pool) -> None:
        self.state.streams[pool].group = None

    def delete_consumer(self, pool: Pool, name: str) -> None:
        """XGROUP DELCONSUMER: what it holds is in nobody's hand any more, and never new again."""
        group = self.state.streams[pool].make_group()
        group.consumers.pop(name, None)
        for message_id in group.held_by(name):
            del group.pending[message_id]

    def delete_entry(self, pool: Pool, message_id: str) -> None:
        """XDEL or a trim: a pending entry stays pending without its payload."""
        self.state.streams[pool].entries.pop(parse(message_id), None)

    def expire_name(self, consumer: str) -> None:
        self.state.names.pop(consumer, None)
