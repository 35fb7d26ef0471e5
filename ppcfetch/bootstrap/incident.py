"""The bundles of `ppcfetch incident`: our use cases, the naive queue, and what both left behind."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from ppcfetch.adapters.archive.client import ArchiveClient
from ppcfetch.adapters.database.due import PostgresDue
from ppcfetch.adapters.database.evidence import Evidence
from ppcfetch.adapters.database.fetches import PostgresFetches
from ppcfetch.adapters.redis.census import RedisCensus
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.inspector import RedisInspector
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.naive import NaiveQueue
from ppcfetch.bootstrap.addresses import find_addresses
from ppcfetch.bootstrap.parts import keeping, open_client, open_engine, open_redis
from ppcfetch.model.lease import Holder
from ppcfetch.ports import Asked, Request, SweepReport
from ppcfetch.settings import Settings
from ppcfetch.usecases.request_refresh import request_refresh
from ppcfetch.usecases.sweep import sweep

PATIENCE = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class IncidentPorts:
    """What replaying an incident needs. Shape: naive gives the queue of a name."""

    request: Callable[[Request], Asked]
    sweep: Callable[[Holder], SweepReport | None]
    evidence: Evidence
    inspector: RedisInspector
    naive: Callable[[str], NaiveQueue]


@contextmanager
def open_incident(settings: Settings) -> Iterator[IncidentPorts]:
    """Give the ports of a replay and close them at the end."""
    addresses, keys = find_addresses(settings), Keys()
    with ExitStack() as stack:
        work = open_engine(stack, addresses.database, "ppcfetch incident", size=2)
        redis = open_redis(stack, addresses.redis, patience=PATIENCE)
        doorbell = RedisDoorbell(redis.rest, keys)
        yield IncidentPorts(
            request=partial(
                request_refresh,
                fetches=PostgresFetches(work, settings.admission),
                doorbell=doorbell,
            ),
            sweep=partial(
                sweep,
                due=PostgresDue(work, settings.limits, keeping(settings), settings.admission),
                doorbell=doorbell,
                census=RedisCensus(redis.rest, keys),
                # Each sweeper's turn is over at once, so that every one of them sweeps.
                turn=timedelta(0),
            ),
            evidence=Evidence(work),
            inspector=RedisInspector(redis.rest, keys),
            naive=partial(NaiveQueue, redis.rest),
        )


@contextmanager
def open_naive_worker(settings: Settings, queue: str) -> Iterator[tuple[NaiveQueue, ArchiveClient]]:
    """Give the naive queue of a name and the archive, for a naive worker process."""
    addresses = find_addresses(settings)
    with ExitStack() as stack:
        redis = open_redis(stack, addresses.redis, patience=PATIENCE)
        yield NaiveQueue(redis.reading, queue), open_client(stack, settings, addresses)
