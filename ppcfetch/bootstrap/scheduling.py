"""The schedule of a worker's sweeper, off unless its setting is there."""

from functools import partial

from ppcfetch.adapters.database.engine import Engine
from ppcfetch.adapters.database.importing import PostgresImports
from ppcfetch.adapters.database.pauses import PostgresPauses
from ppcfetch.adapters.database.watches import PostgresWatches
from ppcfetch.adapters.redis.connections import Connections
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.ports import Schedule, nothing_scheduled
from ppcfetch.settings import Settings
from ppcfetch.usecases.schedule import schedule


def scheduling(settings: Settings, *, work: Engine, redis: Connections) -> Schedule:
    """Give what a sweeper calls in each round of its turn."""
    if settings.schedule_every is None:
        return nothing_scheduled
    return partial(
        schedule,
        settings.schedule_every,
        watched=PostgresWatches(work, work),
        imports=PostgresImports(work, settings.admission),
        doorbell=RedisDoorbell(redis.rest, Keys()),
        pauses=PostgresPauses(work),
        reach=settings.reach,
    )
