"""A worker's bundle."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from ppcfetch.adapters.clock import SystemClock
from ppcfetch.adapters.database.due import PostgresDue
from ppcfetch.adapters.database.engine import Engine
from ppcfetch.adapters.database.facts import database_facts
from ppcfetch.adapters.database.jobs import PostgresJobs
from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.adapters.database.pauses import PostgresPauses
from ppcfetch.adapters.embedded.running import Addresses
from ppcfetch.adapters.redis.census import RedisCensus
from ppcfetch.adapters.redis.connections import Connections
from ppcfetch.adapters.redis.deliveries import RedisDeliveries
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.facts import redis_facts
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.names import ConsumerName, take_name
from ppcfetch.adapters.redis.settling import RedisSettling
from ppcfetch.bootstrap.addresses import find_addresses
from ppcfetch.bootstrap.parts import keeping, open_client, open_engine, open_pace, open_redis
from ppcfetch.bootstrap.scheduling import scheduling
from ppcfetch.errors import ConfigurationError, StreamUnavailable, Unavailable
from ppcfetch.model.health import Finding, Verdict
from ppcfetch.model.job import Pool
from ppcfetch.ports import Handler, WorkerPorts
from ppcfetch.settings import Settings
from ppcfetch.usecases.examine import examine
from ppcfetch.usecases.run_job import run_job

BESIDE_SLOTS = 3
"""Connections of a worker's admitter, sweeper and gate beside one for each slot."""
LEASING = 2
"""Connections of its loop, which takes leases, and of its settler."""


@contextmanager
def open_worker(settings: Settings, *, pool: Pool, threads: int) -> Iterator[WorkerPorts]:
    """Give a worker's ports, and close them at the end; the consumer name is given free first.

    Raises: ConfigurationError when the servers cannot work for us as they are set up;
    Unavailable when one of them does not answer: whoever keeps us running starts us again.
    """
    addresses = find_addresses(settings)
    limits, keys, clock = settings.limits, Keys(), SystemClock()
    with ExitStack() as stack:
        open_pool = partial(open_engine, stack, addresses.database, lease=limits.lease)
        work = open_pool(f"ppcfetch {pool}", size=threads + BESIDE_SLOTS)
        redis = open_redis(stack, addresses.redis, patience=limits.renew)
        leasing = open_pool(f"ppcfetch lease {pool}", size=LEASING, one_plan=True)
        jobs = PostgresJobs(leasing, limits)
        due = PostgresDue(work, limits, keeping(settings), settings.admission)
        _refuse_what_cannot_work(
            examine(
                database=partial(database_facts, work),
                redis=partial(redis_facts, redis.rest, keys),
                epoch=due.epoch,
            )
        )
        name = _take_name(stack, redis, settings, pool=pool, incarnation=jobs.next_incarnation())
        yield WorkerPorts(
            holder=name.holder,
            name=name,
            jobs=jobs,
            beat_jobs=PostgresJobs(open_pool(f"ppcfetch beat {pool}", size=1), limits),
            deliveries=RedisDeliveries(
                redis, keys, pool=pool, holder=name.holder, lease=limits.lease
            ),
            settling=RedisSettling(redis.rest, keys, pool),
            beat_settling=RedisSettling(redis.renewing, keys, pool),
            due=due,
            doorbell=RedisDoorbell(redis.rest, keys),
            census=RedisCensus(redis.rest, keys),
            pauses=PostgresPauses(work),
            handler=_handler(
                stack, settings, addresses, work=work, redis=redis, asker=name.holder.consumer
            ),
            clock=clock,
            schedule=scheduling(settings, work=work, redis=redis),
        )


def _handler(
    stack: ExitStack,
    settings: Settings,
    addresses: Addresses,
    *,
    work: Engine,
    redis: Connections,
    asker: str,
) -> Handler:
    clock = SystemClock()
    return partial(
        run_job,
        archive=open_client(stack, settings, addresses),
        pages=PostgresPages(work),
        pace=open_pace(redis, settings, clock, asker=asker),
        clock=clock,
        patience=settings.limits.lease,
        split_at=settings.split_ads,
    )


def _take_name(
    stack: ExitStack, redis: Connections, settings: Settings, *, pool: Pool, incarnation: int
) -> ConsumerName:
    name = take_name(
        redis.renewing,
        Keys(),
        host=settings.worker_name or socket.gethostname(),
        pool=pool,
        incarnation=incarnation,
        lease=settings.limits.lease,
    )
    stack.callback(_release, name)
    return name


def _refuse_what_cannot_work(findings: Sequence[Finding]) -> None:
    bad = [one for one in findings if one.verdict is Verdict.BAD]
    if any(one.away for one in bad):
        raise Unavailable("; ".join(one.found for one in bad if one.away))
    if bad:
        raise ConfigurationError("\n".join(f"{b.check}: {b.found} ({b.advice})" for b in bad))


def _release(name: ConsumerName) -> None:
    """Give the name free; with Redis away its lock expires after a lease by itself."""
    with suppress(StreamUnavailable):
        name.release()
