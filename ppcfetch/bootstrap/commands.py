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
from ppcfetch.adapters.database.facts import database_facts
from ppcfetch.adapters.database.fetch_views import notable_fetches
from ppcfetch.adapters.database.fetches import PostgresFetches
from ppcfetch.adapters.database.pauses import PostgresPauses
from ppcfetch.adapters.database.users import Users
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.facts import redis_facts
from ppcfetch.adapters.redis.inspector import RedisInspector
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.bootstrap.addresses import find_addresses
from ppcfetch.bootstrap.egresses import Egresses
from ppcfetch.bootstrap.parts import keeping, open_engine, open_redis
from ppcfetch.bootstrap.pools import Pools
from ppcfetch.model.account import User
from ppcfetch.model.fetch import Fetch
from ppcfetch.model.health import Finding
from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Pause
from ppcfetch.ports import Asked, Request, Watching
from ppcfetch.settings import Settings
from ppcfetch.usecases.add_user import add_user
from ppcfetch.usecases.examine import examine
from ppcfetch.usecases.ledger import Difference
from ppcfetch.usecases.request_refresh import request_refresh

PATIENCE = timedelta(seconds=2)


class AddUser(Protocol):
    """The use case over its ports."""

    def __call__(self, email: str, password: str, *, operator: bool) -> User:
        """Give the new account's user. Raises: Refused."""
        ...


@dataclass(frozen=True, slots=True)
class CommandPorts:
    """What short commands may do; status gives one row a pool, egresses one a way out."""

    request_refresh: Callable[[Request], Asked]
    pause_of: Callable[[Pool], Pause | None]
    watching: Watching
    examine: Callable[[], Sequence[Finding]]
    status: Callable[[], list[dict[str, object]]]
    egresses: Callable[[], list[dict[str, object]]]
    notable_fetches: Callable[[], Sequence[Fetch]]
    ledger: Callable[[], Sequence[Difference]]
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
        pools = Pools(reading, redis, keys, schedule=settings.schedule_every)
        egresses = Egresses(RedisInspector(redis.rest, keys), settings.egresses)
        yield CommandPorts(
            request_refresh=partial(
                request_refresh,
                fetches=PostgresFetches(work, settings.admission),
                doorbell=RedisDoorbell(redis.rest, keys),
            ),
            pause_of=PostgresPauses(reading).pause_of,
            watching=Catalogue(reading),
            examine=partial(
                examine,
                database=partial(database_facts, work),
                redis=partial(redis_facts, redis.rest, keys),
                epoch=PostgresDue(work, settings.limits, keeping(settings)).epoch,
                queue=partial(pools.facts, patience=settings.limits.lease),
                egresses=egresses.facts,
            ),
            status=pools.rows,
            egresses=egresses.rows,
            notable_fetches=partial(notable_fetches, reading),
            ledger=pools.ledger,
            add_user=partial(add_user, users=Users(work), passwords=Passwords()),
        )
