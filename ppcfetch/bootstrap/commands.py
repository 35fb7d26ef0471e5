"""The bundles of short commands."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Protocol

from ppcfetch.adapters.accounts.passwords import Passwords
from ppcfetch.adapters.database.catalogue import Catalogue
from ppcfetch.adapters.database.due import PostgresDue
from ppcfetch.adapters.database.engine import Engine
from ppcfetch.adapters.database.facts import database_facts, pool_rows
from ppcfetch.adapters.database.fetches import PostgresFetches
from ppcfetch.adapters.database.users import Users
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.facts import redis_facts
from ppcfetch.adapters.redis.inspector import RedisInspector
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.bootstrap.addresses import find_addresses
from ppcfetch.bootstrap.parts import keeping, open_engine, open_redis
from ppcfetch.errors import StreamUnavailable
from ppcfetch.model.account import User
from ppcfetch.model.health import Finding
from ppcfetch.ports import Asked, Request, Watching
from ppcfetch.settings import Settings
from ppcfetch.usecases.add_user import add_user
from ppcfetch.usecases.examine import examine
from ppcfetch.usecases.request_refresh import request_refresh

PATIENCE = timedelta(seconds=2)


class AddUser(Protocol):
    """The use case over its ports."""

    def __call__(self, email: str, password: str, *, operator: bool) -> User:
        """Give the new account's user. Raises: Refused."""
        ...


@dataclass(frozen=True, slots=True)
class CommandPorts:
    """What short commands may do; status gives one row a pool."""

    request_refresh: Callable[[Request], Asked]
    watching: Watching
    examine: Callable[[], Sequence[Finding]]
    status: Callable[[], list[dict[str, object]]]
    add_user: AddUser


@contextmanager
def open_commands(settings: Settings) -> Iterator[CommandPorts]:
    """Give the ports of short commands and close them at the end."""
    addresses = find_addresses(settings)
    keys = Keys()
    with ExitStack() as stack:
        open_pool = partial(open_engine, stack, addresses.database, "ppcfetch command", size=2)
        work, reading = open_pool(), open_pool(read_only=True)
        redis = open_redis(stack, addresses.redis, patience=PATIENCE)
        yield CommandPorts(
            request_refresh=partial(
                request_refresh,
                fetches=PostgresFetches(work),
                doorbell=RedisDoorbell(redis.rest, keys),
            ),
            watching=Catalogue(reading),
            examine=partial(
                examine,
                database=partial(database_facts, work),
                redis=partial(redis_facts, redis.rest, keys),
                epoch=PostgresDue(work, settings.limits, keeping(settings)).epoch,
            ),
            status=partial(_status, reading, RedisInspector(redis.rest, keys)),
            add_user=partial(add_user, users=Users(work), passwords=Passwords()),
        )


def _status(engine: Engine, inspector: RedisInspector) -> list[dict[str, object]]:
    """Give what rows and stream say of each pool; the stream's part is None when it is away."""
    status = []
    for rows in pool_rows(engine):
        try:
            counts = inspector.counts(rows.pool)
        except StreamUnavailable:
            counts = None
        status.append(
            {
                "pool": str(rows.pool),
                "due": rows.due,
                "not_yet_due": rows.not_yet_due,
                "running": rows.running,
                "dead": rows.dead,
                "oldest_waiting_seconds": _seconds(rows.oldest),
                "last_page_seconds_ago": _seconds(rows.progressed),
                "messages_waiting": counts and counts.undelivered,
                "messages_in_hand": counts and counts.in_hand,
            }
        )
    return status


def _seconds(length: timedelta | None) -> float | None:
    return None if length is None else round(length.total_seconds(), 1)
