"""Steps that a simulated run made of its Redis, made again of a real server at the same times.

Time is told to the server before each step that asks for it: how long entries have been idle,
and which consumer names have become free.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from ppcfetch.adapters.redis.deliveries import RedisDeliveries
from ppcfetch.adapters.redis.keys import GROUP
from ppcfetch.adapters.redis.messages import FIELD
from ppcfetch.adapters.redis.names import ConsumerName, take_name
from ppcfetch.errors import PpcFetchError
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Limits, Token
from tests.contract.stream_rig import RealRig
from tests.fakes_stream import show
from tests.simulation.wires import Call, Server
from tests.simulation.world import World

ASKS_FOR_TIME = frozenset({"abandoned", "claim", "reconcile"})
CANNOT_BE_REPEATED = frozenset({"rewind", "delete_entry"})
NOT_COMPARED = frozenset({"forget_consumers", "release"})
MARGIN = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Held:
    """A pending entry as the run's Redis knew it."""

    pool: Pool
    message_id: str
    consumer: str
    idle: timedelta


@dataclass(frozen=True, slots=True)
class Step:
    """A call, and what time had done before it."""

    call: Call
    names: frozenset[str]
    held: tuple[Held, ...]


@dataclass
class Recorder:
    """Keeps the steps of a run until something happens that cannot be repeated."""

    steps: list[Step] = field(default_factory=list)
    world: World | None = None
    over: bool = False

    def keep(self, call: Call) -> None:
        """Note a call that is about to be done."""
        self.over = self.over or call.name in CANNOT_BE_REPEATED
        if call.server is not Server.REDIS or self.over or self.world is None:
            return
        redis = self.world.redis
        names = frozenset(name for name in redis.state.names if redis.bearer(name) is not None)
        held = self._held(redis.now()) if call.name in ASKS_FOR_TIME else ()
        self.steps.append(Step(call, names, held))

    def _held(self, now: float) -> tuple[Held, ...]:
        assert self.world is not None
        return tuple(
            Held(pool, show(one), entry.consumer, timedelta(seconds=now - entry.since))
            for pool, stream in self.world.redis.state.streams.items()
            if stream.group
            for one, entry in stream.group.pending.items()
        )


def steps_of(seed: int) -> tuple[World, list[Step]]:
    """Give a run and the steps that its Redis answered, in their order."""
    recorder = Recorder()
    world = World(seed, record=recorder.keep)
    recorder.world = world
    world.run()
    return world, [step for step in recorder.steps if not step.call.gone]


class StepsPlayer:
    """The ports on a real, empty server, and which of its ids stand for which of the run's."""

    def __init__(self, rig: RealRig, limits: Limits) -> None:
        self._rig = rig
        self._lease = limits.lease
        self._ids: dict[tuple[Pool, str], str] = {}
        self._names: frozenset[str] = frozenset()

    def play(self, step: Step) -> tuple[object, object]:
        """Give the run's reply and the real one, both in the real server's ids."""
        self._let_time_pass(step)
        call = step.call
        try:
            reply = self._method(call)(*self._known(call), **call.named)
        except PpcFetchError as error:
            reply = type(error)
        return self._in_real_ids(call, reply), _plain(reply)

    def _let_time_pass(self, step: Step) -> None:
        for name in self._names - step.names:
            self._rig.expire_name(name)
        self._names = step.names
        for one in step.held:
            idle = one.idle + MARGIN if one.idle >= self._lease else one.idle - MARGIN
            self._rig.client.xclaim(
                self._rig.keys.stream(one.pool),
                GROUP,
                one.consumer,
                0,
                [self._ids[one.pool, one.message_id]],
                idle=max(round(idle / timedelta(milliseconds=1)), 0),
                justid=True,
            )

    def _method(self, call: Call) -> Callable[..., Any]:
        match call.target:
            case ("deliveries", pool, holder):
                deliveries = RedisDeliveries(
                    self._rig.connections,
                    self._rig.keys,
                    pool=pool,
                    holder=holder,
                    lease=self._lease,
                )
                port: Any = deliveries
            case ("settling", pool):
                port = self._rig.settling(pool)
            case ("name", _, holder):
                port = ConsumerName(
                    self._rig.client, self._rig.keys, holder=holder, lease=self._lease
                )
            case ("loss",):
                port = self
            case _ if call.name == "take_name":
                return self._take_name
            case _:
                port = self._rig.doorbell if call.name == "publish" else self._rig.census
        found: Callable[..., Any] = getattr(port, call.name)
        return found

    def _known(self, call: Call) -> list[Any]:
        """Give the arguments in the real server's ids."""
        args = list(call.args)
        if call.name == "receive":
            return [args[0], timedelta(0)]
        pool = call.target[1] if len(call.target) > 1 else None
        return [self._translated(value, pool) for value in args]

    def _translated(self, value: Any, pool: Pool | None) -> Any:
        if isinstance(value, Delivery):
            return replace(value, token=self._translated(value.token, value.pool))
        if isinstance(value, Token) and pool is not None:
            return replace(value, message_id=self._ids[pool, value.message_id])
        if isinstance(value, str) and pool is not None:
            return self._ids.get((pool, value), value)
        if isinstance(value, frozenset):
            return frozenset(self._translated(one, pool) for one in value)
        if isinstance(value, list | tuple) and pool is not None:
            return [self._translated(one, pool) for one in value]
        return value

    def _in_real_ids(self, call: Call, real: object) -> object:
        """Give the run's reply as the real server would have said it; learns ids on the way."""
        # A process that was killed while it waited for messages was given none.
        said: Any = [] if call.name == "receive" and call.reply is None else call.reply
        if isinstance(said, list) and isinstance(real, list) and len(said) == len(real):
            for one, other in zip(said, real, strict=True):
                if isinstance(one, Delivery) and isinstance(other, Delivery):
                    self._ids[one.pool, one.token.message_id] = other.token.message_id
        if call.name == "take_name":
            return said.holder
        if isinstance(said, type):
            return said
        pool = call.target[1] if len(call.target) > 1 else None
        return _plain(self._translated(said, pool))

    def _take_name(self, host: str, pool: Pool, incarnation: int, lease: timedelta) -> object:
        return take_name(
            self._rig.client,
            self._rig.keys,
            host=host,
            pool=pool,
            incarnation=incarnation,
            lease=lease,
        ).holder

    # Losses, by the names that the run knows

    def flushall(self) -> None:
        self._rig.client.flushall()
        self._tick()

    def delete_stream(self, pool: Pool) -> None:
        self._rig.client.delete(self._rig.keys.stream(pool))
        self._tick()

    def destroy_group(self, pool: Pool) -> None:
        self._rig.client.xgroup_destroy(self._rig.keys.stream(pool), GROUP)

    def delete_consumer(self, pool: Pool, name: str) -> None:
        self._rig.client.xgroup_delconsumer(self._rig.keys.stream(pool), GROUP, name)

    def add_rubbish(self, pool: Pool, payload: bytes) -> None:
        self._rig.client.xadd(self._rig.keys.stream(pool), {FIELD: payload})

    def _tick(self) -> None:
        """Wait until the server's clock moves on: no new entry may bear the id of a lost one."""
        before = self._rig.client.time()
        while self._rig.client.time()[1] // 1000 == before[1] // 1000:
            pass


def _plain(reply: object) -> object:
    if isinstance(reply, frozenset):
        return sorted(reply)
    return list(reply) if isinstance(reply, Sequence) and not isinstance(reply, str) else reply
