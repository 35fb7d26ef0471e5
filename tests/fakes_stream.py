"""One stream with its group in memory, as Redis 7 and Valkey keep it."""

from dataclasses import dataclass, field

from ppcfetch.adapters.redis.messages import decode
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Token

Id = tuple[int, int]


def show(message_id: Id) -> str:
    return f"{message_id[0]}-{message_id[1]}"


def parse(text: str) -> Id:
    time, _, number = text.partition("-")
    return int(time), int(number or 0)


@dataclass(slots=True)
class Pending:
    """An entry in a hand; since is when its idle time began, in seconds."""

    consumer: str
    since: float
    deliveries: int = 1


@dataclass(slots=True)
class FakeGroup:
    """How far was read, what is pending, and when each consumer was last active."""

    last: Id = (0, 0)
    pending: dict[Id, Pending] = field(default_factory=dict)
    consumers: dict[str, float] = field(default_factory=dict)

    def held_by(self, consumer: str) -> list[Id]:
        return [one for one, entry in self.pending.items() if entry.consumer == consumer]


@dataclass(slots=True)
class FakeStream:
    """The entries and at most one group; a deleted stream is a new one."""

    pool: Pool
    entries: dict[Id, bytes] = field(default_factory=dict)
    newest: Id = (0, 0)
    group: FakeGroup | None = None

    def make_group(self) -> FakeGroup:
        if self.group is None:
            self.group = FakeGroup()
        return self.group

    def add(self, payload: bytes, now: float) -> Id:
        """Ids grow even when the clock goes back."""
        self.newest = max((round(now * 1000), 0), (self.newest[0], self.newest[1] + 1))
        self.entries[self.newest] = payload
        return self.newest

    def remove(self, message_id: Id) -> None:
        if self.group:
            self.group.pending.pop(message_id, None)
        self.entries.pop(message_id, None)

    def read(self, consumer: str, count: int, now: float) -> list[Delivery]:
        """Nothing, and a new group, when the group was lost."""
        if self.group is None:
            self.make_group()
            return []
        self.group.consumers[consumer] = now
        found = [one for one in self.entries if one > self.group.last][:count]
        for message_id in found:
            self.group.pending[message_id] = Pending(consumer, now)
            self.group.last = message_id
        return [self.delivery(message_id) for message_id in found]

    def entry(self, message_id: Id) -> Pending | None:
        return self.group.pending.get(message_id) if self.group else None

    def bears(self, token: Token) -> bool:
        entry = self.entry(parse(token.message_id))
        return entry is not None and (entry.consumer, entry.deliveries) == (
            token.consumer,
            token.deliveries,
        )

    def rings(self, message_id: Id) -> bool:
        if message_id not in self.entries:
            return False
        return self.entry(message_id) is not None or message_id > self.read_up_to()

    def read_up_to(self) -> Id:
        return self.group.last if self.group else (0, 0)

    def touch(self, token: Token, now: float) -> bool:
        """What `XCLAIM … 0 … JUSTID` behind a look at the token does."""
        entry = self.entry(parse(token.message_id))
        if entry is None or not self.bears(token) or parse(token.message_id) not in self.entries:
            return False
        entry.since = now
        return True

    def claim(self, consumer: str, message_id: Id, min_idle: float, now: float) -> Delivery | None:
        """Claim under a new counter; one whose payload is gone is acknowledged away."""
        entry = self.entry(message_id)
        if self.group is None or entry is None:
            return None
        if message_id not in self.entries:
            del self.group.pending[message_id]
            return None
        if now - entry.since < min_idle:
            return None
        self.group.consumers[consumer] = now
        self.group.pending[message_id] = Pending(consumer, now, entry.deliveries + 1)
        return self.delivery(message_id)

    def idle(self, min_idle: float, now: float, *, after: Id = (0, 0)) -> list[Id]:
        """Pending entries idle for so long, in order."""
        found = self.group.pending.items() if self.group else []
        return sorted(one for one, e in found if one > after and now - e.since >= min_idle)

    def delivery(self, message_id: Id) -> Delivery:
        entry = self.entry(message_id)
        assert entry is not None
        token = Token(show(message_id), entry.consumer, entry.deliveries)
        return decode(self.pool, token, [b"d", self.entries[message_id]])

    def orphans(self) -> list[Id]:
        return [o for o in self.entries if o <= self.read_up_to() and self.entry(o) is None]
