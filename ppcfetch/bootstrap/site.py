"""The site's bundle: reads apart from writes, and no archive."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from ppcfetch.adapters.accounts.passwords import Passwords
from ppcfetch.adapters.database.catalogue import Catalogue
from ppcfetch.adapters.database.facts import database_facts
from ppcfetch.adapters.database.fetches import PostgresFetches
from ppcfetch.adapters.database.followers import PostgresFollowers
from ppcfetch.adapters.database.job_views import JobViews
from ppcfetch.adapters.database.sessions import Sessions
from ppcfetch.adapters.database.users import Users
from ppcfetch.adapters.database.watches import PostgresWatches
from ppcfetch.adapters.redis.census import RedisCensus
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.bootstrap.addresses import find_addresses
from ppcfetch.bootstrap.parts import open_engine, open_redis
from ppcfetch.model.health import DatabaseFacts
from ppcfetch.model.job_view import JobView
from ppcfetch.ports import Asked, Request
from ppcfetch.settings import Settings
from ppcfetch.usecases.request_refresh import request_refresh

PATIENCE = timedelta(seconds=1)
"""How long a click waits for Redis before it leaves the ringing to a sweeper."""


@dataclass(frozen=True, slots=True)
class SitePorts:
    """All that the site may touch.

    Shape: catalogue cannot write; limiter is where rate limits are counted.
    """

    catalogue: Catalogue
    walks: Callable[[int], Sequence[JobView]]
    users: Users
    sessions: Sessions
    passwords: Passwords
    fetches: PostgresFetches
    watches: PostgresWatches
    followers: PostgresFollowers
    request_refresh: Callable[[Request], Asked]
    database_facts: Callable[[], DatabaseFacts]
    stream_epoch: Callable[[], str | None]
    limiter: str = field(repr=False)


@contextmanager
def open_site(settings: Settings, *, threads: int) -> Iterator[SitePorts]:
    """Give the site's ports and close them at the end; nothing is connected before it is used."""
    addresses = find_addresses(settings)
    with ExitStack() as stack:
        open_pool = partial(open_engine, stack, addresses.database, "ppcfetch site", size=threads)
        reading, writing = open_pool(read_only=True), open_pool()
        redis = open_redis(stack, addresses.redis, patience=PATIENCE)
        fetches = PostgresFetches(writing, settings.admission)
        yield SitePorts(
            catalogue=Catalogue(reading, settings.limits.lease),
            walks=JobViews(reading).of_fetch,
            users=Users(writing),
            sessions=Sessions(reading, writing),
            passwords=Passwords(),
            fetches=fetches,
            watches=PostgresWatches(reading, writing),
            followers=PostgresFollowers(reading, writing),
            request_refresh=partial(
                request_refresh, fetches=fetches, doorbell=RedisDoorbell(redis.rest, Keys())
            ),
            database_facts=partial(database_facts, reading),
            stream_epoch=RedisCensus(redis.rest, Keys()).epoch,
            limiter=addresses.redis,
        )
