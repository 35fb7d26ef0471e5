"""Where schedules are played side by side: each lane has a database server of its own.

A schedule mostly waits, so that several at once cost little more than one. Emulator and nursery
are shared, since no fault happens to them; Redis is started anew for each schedule.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from tests.e2e.nursery import Nursery, nursery
from tests.e2e.plant import Plant
from tests.servers import Databases, short_folder

AT_ONCE = 3
"""A schedule waits most of the time: three keep a core busy."""
ARCHIVE_LATENCY_MS = 300
"""So slow that jobs last through faults, and few pages of them need a core."""


@dataclass(frozen=True)
class Lane:
    """What outlives a schedule."""

    databases: Databases
    nursery: Nursery
    archive: str


@contextmanager
def lanes(number: int) -> Iterator["SimpleQueue[Lane]"]:
    """Give so many free lanes; who takes one puts it back."""
    free: SimpleQueue[Lane] = SimpleQueue()
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        born = stack.enter_context(nursery())
        archive = _archive(stack, folder)
        for lane in range(number):
            server = EmbeddedPostgres(folder / f"postgres-{lane}", durable=False)
            databases = Databases(stack.enter_context(server))
            databases.drop(databases.migrated())  # Alembic migrates one database at a time
            free.put(Lane(databases, born, archive))
        yield free


def _archive(stack: ExitStack, folder: Path) -> str:
    plant = Plant(folder, "", "")
    stack.callback(plant.stop)
    plant.start_archive()
    plant.behave(latency_ms=ARCHIVE_LATENCY_MS)
    return plant.archive
