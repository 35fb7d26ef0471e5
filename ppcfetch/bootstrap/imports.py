"""The bundle of an import."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from typing import Protocol

from ppcfetch.adapters.database.importing import PostgresImports
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.bootstrap.addresses import find_addresses
from ppcfetch.bootstrap.parts import open_engine, open_redis
from ppcfetch.model.domain_list import Entry
from ppcfetch.model.fetch import FetchReason
from ppcfetch.ports import Wish
from ppcfetch.settings import Settings
from ppcfetch.usecases.import_domains import Report, import_domains

PATIENCE = timedelta(seconds=2)


class Import(Protocol):
    """The use case over its ports."""

    def __call__(
        self, entries: Iterable[Entry], *, dry_run: bool, told: Callable[[Report], None]
    ) -> Report:
        """Give what became of the list. Raises: DatabaseUnavailable."""
        ...


@contextmanager
def open_imports(settings: Settings) -> Iterator[Import]:
    """Give what imports a list, and close its connections at the end."""
    addresses = find_addresses(settings)
    wish = Wish(FetchReason.IMPORT, settings.stale_after, settings.reach)
    with ExitStack() as stack:
        engine = open_engine(stack, addresses.database, "ppcfetch import", size=1)
        redis = open_redis(stack, addresses.redis, patience=PATIENCE)
        yield partial(
            import_domains,
            wish=wish,
            imports=PostgresImports(engine, settings.admission),
            doorbell=RedisDoorbell(redis.rest, Keys()),
        )
