"""Calls that meet in the database: begun at one moment, or one behind what another has locked."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import TypeVar

from sqlalchemy import Connection

from tests.contract.database_rig import RealRig
from tests.waiting import wait_until

Result = TypeVar("Result")


def at_once(threads: ThreadPoolExecutor, *calls: Callable[[], Result]) -> list[Result | Exception]:
    """Give what each call gave or raised, all begun at the same moment."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Result]) -> Result | Exception:
        barrier.wait()
        try:
            return call()
        except Exception as error:  # noqa: BLE001 -- the test looks at it
            return error

    return [future.result() for future in [threads.submit(run, call) for call in calls]]


@contextmanager
def waiting_behind(
    postgres: RealRig, threads: ThreadPoolExecutor, call: Callable[[], Result]
) -> Iterator[tuple[Connection, Callable[[], Future[Result]]]]:
    """Lend a connection; what it locks, the call waits for once it was started."""
    with postgres.engine.connect() as connection:

        def start() -> Future[Result]:
            future = threads.submit(call)
            wait_until(
                lambda: future.done() or blocked(postgres), describe="the call waits for a lock"
            )
            assert not future.done(), future
            return future

        yield connection, start


def blocked(postgres: RealRig) -> int:
    """Count those who wait for a lock."""
    [row] = postgres.run(
        "SELECT count(*) AS number FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    return int(row.number)
