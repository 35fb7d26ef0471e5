"""The same long row of calls on the database in memory and on the real one: the same replies."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from ppcfetch.errors import PpcFetchError
from ppcfetch.model.ad import AdFormat
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchReason, FetchState
from ppcfetch.model.job import Job, Pool
from ppcfetch.model.lease import Holder, Lease
from ppcfetch.model.outcome import Dead, Done, HandBack, Outcome, Rest, RetryLater, Spill
from ppcfetch.ports import Asked, Request, Taking
from tests.contract.database_rig import FakeRig, RealRig, Rig, an_ad
from tests.fakes_tables import ZERO

CALLS = 100
SEEDS = 4

STEP = timedelta(seconds=30)
DOMAINS = ["one.example", "two.example", "three.example"]
HOLDERS = [Holder(name, incarnation) for name in ("anna", "bert") for incarnation in (1, 2)]
OUTCOMES: list[Outcome] = [
    *[RetryLater(STEP, "cut body")] * 3,
    *[Rest(STEP * 3, "429")] * 2,
    *[HandBack()] * 3,
    Spill(),
    Dead("wrong shape"),
    Done(),
]

Call = Callable[[Rig], object]


@dataclass(slots=True)
class Story:
    """Draws calls at random from what the replies so far have named."""

    dice: random.Random
    fetches: set[int] = field(default_factory=set)
    jobs: set[int] = field(default_factory=set)
    leases: list[Lease] = field(default_factory=list)

    def call(self) -> Call:
        """Give the next call."""
        acts = [*[self._ask] * 2, *[self._pass_time] * 2, self._sweep]
        if self.jobs:
            acts += [*[self._take] * 8, self._cancel, self._retry, self._look]
        if self.leases:
            acts += [*[self._settle] * 3, *[self._write] * 4, self._beat, self._give_back]
        return self.dice.choice(acts)()

    def learn(self, reply: object) -> None:
        """Remember what a reply named."""
        if isinstance(reply, Asked):
            self.fetches.add(reply.fetch.id)
            self.jobs.update(job_id for job_id, _ in reply.jobs)
        if isinstance(reply, Job):
            self.jobs.add(reply.id)
        if isinstance(reply, dict):
            self.leases += [answer for answer in reply.values() if isinstance(answer, Lease)]

    def _ask(self) -> Call:
        request = Request(
            DomainName(self.dice.choice(DOMAINS)),
            self.dice.choice(list(FetchReason)),
            asked_by=self.dice.choice([None, 1]),
            force=self.dice.random() < 0.5,
            window=STEP * 4,
            limit=2,
        )
        if self.fetches and self.dice.random() < 0.3:
            fetch_id = self._one(self.fetches)
            return lambda rig: add_job(rig, fetch_id)
        return lambda rig: rig.fetches.request(request)

    def _take(self) -> Call:
        newest = [*sorted(self.jobs)[-4:], 999]
        ids = self.dice.sample(newest, self.dice.randrange(1, len(newest) + 1))
        takings = [Taking(job_id, f"request {self.dice.randrange(30)}") for job_id in ids]
        holder = self.dice.choice(HOLDERS)
        pool = self.dice.choice(list(Pool))
        return lambda rig: dict(rig.jobs.take(takings, holder=holder, pool=pool))

    def _settle(self) -> Call:
        told = [(lease, self.dice.choice(OUTCOMES)) for lease in self._some_leases()]
        return lambda rig: rig.jobs.settle(told)

    def _write(self) -> Call:
        lease = self.leases[-1 - min(self.dice.randrange(4), len(self.leases) - 1)]
        ads = [
            replace(
                an_ad(self.dice.randrange(8)),
                format=self.dice.choice(list(AdFormat)),
                first_shown=self.dice.choice([None, ZERO, ZERO + STEP]),
            )
            for _ in range(self.dice.randrange(5))
        ]
        last, behind = self.dice.random() < 0.2, int(self.dice.random() < 0.2)

        def write(rig: Rig) -> object:
            # As after the last committed page, or as before it, when its answer was lost.
            pages = max(rig.row(lease.job.id).pages - behind, 0)
            return rig.write(replace(lease, job=replace(lease.job, pages=pages)), ads, last=last)

        return write

    def _beat(self) -> Call:
        leases = self._some_leases()
        return lambda rig: rig.jobs.beat(leases)

    def _give_back(self) -> Call:
        leases = self._some_leases()
        return lambda rig: rig.jobs.give_back_starts(leases)

    def _cancel(self) -> Call:
        fetch_id = self._one(self.fetches)
        return lambda rig: rig.fetches.cancel(fetch_id)

    def _retry(self) -> Call:
        job_id = self._one(self.jobs)
        return lambda rig: rig.fetches.retry(job_id)

    def _look(self) -> Call:
        return lambda rig: rig.jobs.vetoed(self.jobs)

    def _sweep(self) -> Call:
        holder = self.dice.choice(HOLDERS)
        return lambda rig: (
            rig.due.take_turn(holder, STEP * 2),
            rig.due.close_idle_fetches(),
            rig.due.admit(self.jobs),
            rig.due.unrung(None, 100),
        )

    def _pass_time(self) -> Call:
        length = STEP * self.dice.randrange(1, 4)
        return lambda rig: rig.passes(length)

    def _one(self, ids: set[int]) -> int:
        return self.dice.choice(sorted(ids))

    def _some_leases(self) -> list[Lease]:
        """Give recent leases, at most one of each job."""
        recent = {lease.job.id: lease for lease in self.leases[-5:]}
        return self.dice.sample(list(recent.values()), self.dice.randrange(len(recent)) + 1)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_both_databases_answer_every_call_of_a_story_alike(postgres: RealRig, seed: int) -> None:
    fake, story = FakeRig(), Story(random.Random(seed))
    kinds = set()

    for number in range(CALLS):
        call = story.call()
        expected, real = reply(fake, call), reply(postgres, call)
        kinds.add(type(real))
        assert timeless(real) == timeless(expected), f"call {number} of seed {seed}"
        story.learn(real)
        assert everything(postgres, story) == everything(fake, story), f"call {number}"

    assert len(story.leases) > 2
    assert len(kinds) > 4


def add_job(rig: Rig, fetch_id: int) -> Job | None:
    """Split a fetch that is active."""
    active = rig.fetches.get(fetch_id).state is FetchState.ACTIVE
    return rig.row(rig.add_job(fetch_id)) if active else None


def reply(rig: Rig, call: Call) -> object:
    """Give what a call gave, or the kind of error that it ended in."""
    try:
        return call(rig)
    except PpcFetchError as error:
        return type(error)


def timeless(value: object) -> object:
    """Give a reply without what the two clocks must differ in."""
    if isinstance(value, Asked):
        return timeless(value.fetch), value.jobs, value.joined
    if isinstance(value, Fetch):
        ended, started = value.finished_at is not None, value.started_at is not None
        bare = replace(value, asked_at=ZERO, started_at=None, finished_at=None)
        return bare, started, ended
    return list(value) if isinstance(value, tuple) else value


def everything(rig: Rig, story: Story) -> tuple[list[Job | None], list[object]]:
    """Give all rows that the story knows."""
    return (
        [rig.job(job_id) for job_id in sorted(story.jobs)],
        [timeless(rig.fetches.get(fetch_id)) for fetch_id in sorted(story.fetches)],
    )
