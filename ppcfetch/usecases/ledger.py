"""The ledger: active rows = undelivered + in hand + not yet due, per pool, at all times."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ppcfetch.model.job import Pool


class Kind(StrEnum):
    """How rows and messages can differ."""

    SILENT = "active, but nothing rings for it"
    STRAY = "rings for no job that may run now"
    ELSEWHERE = "rings in another pool than its row's"
    TWICE = "rings more than once"


@dataclass(frozen=True, slots=True)
class Message:
    """A message that waits or is in a hand. Shape: job is None when it cannot be read."""

    pool: Pool
    id: str
    job: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference. Shape: job or message is None when there is none; pool is the job's."""

    kind: Kind
    pool: Pool
    job: int | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """Everything at about one moment: jobs that are due or running, and live messages."""

    jobs: Iterable[tuple[int, Pool]]
    messages: Iterable[Message]


def ledger_difference(*, due: int, running: int, undelivered: int, in_hand: int) -> int:
    """Give how many messages of a pool are missing, negative when there are too many.

    Due and running jobs have one message each; jobs that are not due have none. Rows and stream
    are counted a moment apart and change in two steps (the row first), so while jobs come and go
    a difference of a few is seen now and then: a row is committed and its doorbell not yet rung,
    an outcome is written and its delivery not yet settled. One that stays is mended by the next
    sweep; one that outlives two sweeps is a fault.
    """
    return due + running - undelivered - in_hand


def differences(look: Callable[[], Look]) -> Sequence[Difference]:
    """Give the differences that two looks in a row both see, so that few are on their way."""
    seen = set(_compare(look()))
    again = _compare(look()) if seen else ()
    return [one for one in again if one in seen]


def _compare(look: Look) -> Iterator[Difference]:
    # Messages first: a job that ends between the two reads is then a stray, and not silent.
    by_job: dict[int, Message] = {}
    surplus = []
    for message in look.messages:
        if message.job is None or message.job in by_job:
            surplus.append(message)
        else:
            by_job[message.job] = message
    jobs = dict(look.jobs)
    yield from _of_jobs(jobs, by_job)
    for message in surplus:
        kind = Kind.TWICE if message.job in jobs else Kind.STRAY
        yield Difference(kind, message.pool, message.job, message.id)
    for job, message in by_job.items():
        if job not in jobs:
            yield Difference(Kind.STRAY, message.pool, job, message.id)


def _of_jobs(jobs: Mapping[int, Pool], by_job: Mapping[int, Message]) -> Iterator[Difference]:
    for job, pool in jobs.items():
        message = by_job.get(job)
        if message is None:
            yield Difference(Kind.SILENT, pool, job)
        elif message.pool is not pool:
            yield Difference(Kind.ELSEWHERE, pool, job, message.id)
