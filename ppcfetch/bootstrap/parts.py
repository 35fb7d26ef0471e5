"""Parts that several bundles are made of; each is closed with the stack that it is given."""

from contextlib import ExitStack
from datetime import timedelta

from ppcfetch.adapters.archive.client import ArchiveClient
from ppcfetch.adapters.database.engine import Engine, make_engine
from ppcfetch.adapters.database.keeping import Keeping
from ppcfetch.adapters.embedded.running import Addresses
from ppcfetch.adapters.redis.connections import Connections, connect
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.pace import RedisPace
from ppcfetch.errors import ConfigurationError
from ppcfetch.model.domain import DomainName
from ppcfetch.ports import Clock
from ppcfetch.settings import Settings

LONGEST_BLOCK = timedelta(seconds=2)
LONGEST_ANSWER = timedelta(seconds=5)
SHORTEST_ANSWER = timedelta(milliseconds=500)
PAGE_LOG_KEPT = timedelta(days=14)


def open_engine(
    stack: ExitStack,
    url: str,
    application: str,
    *,
    size: int,
    lease: timedelta | None = None,
    read_only: bool = False,
    one_plan: bool = False,
) -> Engine:
    """Give a pool of connections to the database; a lease bounds what a worker's may hold."""
    engine = make_engine(
        url,
        application=application,
        pool_size=size,
        lease=lease,
        read_only=read_only,
        one_plan=one_plan,
    )
    stack.callback(engine.dispose)
    return engine


def open_redis(stack: ExitStack, url: str, *, patience: timedelta) -> Connections:
    """Give clients of Redis that wait for an answer no longer than is useful."""
    answer = max(min(LONGEST_ANSWER, patience), SHORTEST_ANSWER)
    clients = connect(url, block=LONGEST_BLOCK, answer=answer)
    stack.callback(clients.close)
    return clients


def open_client(stack: ExitStack, settings: Settings, addresses: Addresses) -> ArchiveClient:
    """Give a client of the archive. Raises: ConfigurationError when there is no archive."""
    if not addresses.archive:
        message = "PPCFETCH_ARCHIVE_URL is not set, and no `ppcfetch up` runs with its emulator"
        raise ConfigurationError(message)
    control = DomainName.parse(settings.archive_control_domain)
    client = ArchiveClient(addresses.archive, proxies=settings.ways, control=control)
    stack.callback(client.close)
    return client


def open_pace(redis: Connections, settings: Settings, clock: Clock, *, asker: str) -> RedisPace:
    """Give the pace of our egresses, shared with every other worker."""
    return RedisPace(
        redis.rest,
        Keys(),
        egresses=settings.egresses,
        rate_per_second=settings.requests_per_second,
        clock=clock,
        asker=asker,
    )


def keeping(settings: Settings) -> Keeping:
    """Give how long what has ended is kept."""
    return Keeping(
        fetches=timedelta(days=settings.keep_fetches_days),
        jobs=timedelta(days=settings.keep_jobs_days),
        page_log=PAGE_LOG_KEPT,
    )
