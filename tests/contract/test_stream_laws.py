"""Any sequence of steps and losses has the same replies on the Redis in memory and on a server."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from ppcfetch.errors import NameLost
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery
from tests.contract.stream_rig import BULK, INTERACTIVE, NOW, FakeRig, RealRig, Rig

CONSUMERS = ("a", "b", "host.interactive.1")
POOLS = (INTERACTIVE, BULK)


class Player:
    """Plays steps on one rig and remembers every delivery that it ever saw, by number."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.seen: list[Delivery] = []
        self._aliases: dict[tuple[Pool, str], int] = {}

    def play(self, step: str, one: int, other: int) -> object:
        """The reply, with ids replaced by the order in which they came up."""
        try:
            return STEPS[step](self, one, other)
        except NameLost:
            return "name lost"

    def note(self, deliveries: Sequence[Delivery]) -> object:
        self.seen += deliveries
        return [(d.job_id, self.alias(d), d.token.consumer, d.token.deliveries) for d in deliveries]

    def alias(self, delivery: Delivery) -> int:
        key = (delivery.pool, delivery.token.message_id)
        return self._aliases.setdefault(key, len(self._aliases))

    def pick(self, number: int) -> list[Delivery]:
        """One of the newest deliveries, which is more likely to be still somebody's."""
        return [self.seen[-1 - number % min(len(self.seen), 6)]] if self.seen else []

    def deliveries(self, number: int) -> Any:
        return self.rig.deliveries(CONSUMERS[number % 3], 1 + number % 2)

    def state(self) -> object:
        """What can be seen of the streams from outside."""
        counts = [self.rig.counts(pool) for pool in POOLS]
        where = [self.rig.where(job) for job in range(1, 5)]
        return (
            [(one.undelivered, one.in_hand) for one in counts],
            [len(self.rig.messages(pool)) for pool in POOLS],
            [one and (one.pool, one.consumer, one.deliveries) for one in where],
            sorted(self.rig.live_jobs()),
            self.rig.dead(),
            self.rig.bearer(CONSUMERS[2]),
        )


# ruff: noqa: ARG005 - a step takes both numbers, whether it needs them or not
STEPS: dict[str, Callable[[Player, int, int], object]] = {
    "publish": lambda p, a, b: p.rig.doorbell.publish([(1 + a % 4, POOLS[b % 2])]),
    "publish here": lambda p, a, b: p.rig.doorbell.publish([(1 + a % 4, INTERACTIVE)]),
    "receive": lambda p, a, b: p.note(p.deliveries(a).receive(1 + b % 3, NOW)),
    "accept": lambda p, a, b: p.note(p.deliveries(a).accept(here(p.pick(b)))),
    "history": lambda p, a, b: p.note(p.deliveries(a).history("0", 1 + b % 3)),
    "reconcile": lambda p, a, b: p.note(
        p.deliveries(a).reconcile([d.token.message_id for d in p.pick(b)], 2)
    ),
    "abandoned": lambda p, a, b: p.note(p.deliveries(a).abandoned("0", 1 + b % 3)),
    "claim": lambda p, a, b: p.note(p.deliveries(a).claim(here(p.pick(b)))),
    "renew": lambda p, a, b: len(p.rig.settling().renew([d.token for d in here(p.pick(b))])),
    "settle": lambda p, a, b: p.rig.settling().settle(p.pick(b)),
    "move": lambda p, a, b: p.rig.settling().move(p.pick(b), POOLS[a % 2]),
    "bury": lambda p, a, b: [p.rig.settling().dead_letter(d, "given up") for d in p.pick(b)],
    "take name": lambda p, a, b: p.rig.take_name(1 + a % 2).holder.consumer,
    "orphans": lambda p, a, b: p.rig.census.delete_orphans(),
    "groups": lambda p, a, b: p.rig.census.ensure_groups(),
    "age": lambda p, a, b: _after_groups(p, p.rig.age),
    "expire name": lambda p, a, b: p.rig.expire_name(CONSUMERS[2]),
    "rubbish": lambda p, a, b: p.rig.add(b"rubbish"),
    "newer": lambda p, a, b: p.rig.add(b'{"v":2}'),
    "lose consumer": lambda p, a, b: _after_groups(
        p, lambda: p.rig.delete_consumer(CONSUMERS[a % 3])
    ),
    "lose entry": lambda p, a, b: [
        p.rig.delete_entry(message_id) for message_id in p.rig.messages()[b % 3 :][:1]
    ],
    "lose group": lambda p, a, b: _after_groups(p, p.rig.destroy_group),
    "lose stream": lambda p, a, b: p.rig.delete_stream(),
    "lose all": lambda p, a, b: p.rig.flushall(),
}
"""Losses of everything are rarer than the rest, or nothing would ever get far."""

WEIGHTED = [step for step in STEPS for _ in range(1 if step.startswith("lose") else 4)]


def here(deliveries: list[Delivery]) -> list[Delivery]:
    """Those of the pool whose consumers play."""
    return [one for one in deliveries if one.pool is INTERACTIVE]


def _after_groups(player: Player, loss: Callable[[], object]) -> None:
    player.rig.census.ensure_groups()
    loss()


@pytest.fixture
def real(real_redis_url: str) -> Iterator[RealRig]:
    """The ports on each real server."""
    rig = RealRig(real_redis_url)
    yield rig
    rig.close()


@settings(
    max_examples=25,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(WEIGHTED), st.integers(0, 11), st.integers(0, 11)),
        min_size=20,
        max_size=60,
    )
)
@example(steps=[("publish here", 0, 0), ("receive", 0, 0), ("receive", 0, 0), ("settle", 0, 0)])
def test_replies_are_the_same_after_any_sequence_of_steps_and_losses(
    real: RealRig, steps: list[tuple[str, int, int]]
) -> None:
    real.flushall()
    players = Player(FakeRig()), Player(real)

    for number, step in enumerate(steps):
        fake_reply, real_reply = (player.play(*step) for player in players)
        assert fake_reply == real_reply, f"step {number}: {step}"
        fake_state, real_state = (player.state() for player in players)
        assert fake_state == real_state, f"after step {number}: {step}"
