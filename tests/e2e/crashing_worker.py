"""A worker that kills, suspends or stops itself at a named moment of the protocol.

The environment variable PPCFETCH_CRASH_AT, for tests only, holds `point:action[:count]`, several
joined by commas. Points are `before/<port>.<method>`, `after/<port>.<method>` and
`commit/<port>.<method>` (the statements were sent, the commit was not). What the product runs
knows nothing of this: the ports are watched where they are handed over.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import click
import psycopg
import structlog
from sqlalchemy import Engine, event

from ppcfetch.adapters import logs
from ppcfetch.adapters.database.driver import COMMIT
from ppcfetch.bootstrap.worker import open_worker
from ppcfetch.errors import StreamUnavailable
from ppcfetch.model.job import Pool
from ppcfetch.ports import WorkerPorts
from ppcfetch.settings import Settings, load_settings
from workers.process import run_worker

VARIABLE = "PPCFETCH_CRASH_AT"
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "term": signal.SIGTERM}
LOSE = "lose"
REACHED = "crash.point"
HANDLER = ("archive", "pages", "pace")
WATCHED = (
    "name",
    "jobs",
    "beat_jobs",
    "deliveries",
    "settling",
    "beat_settling",
    "due",
    "doorbell",
    "census",
)


class Trap:
    """What is to happen at which point; each thing happens once."""

    def __init__(self, text: str) -> None:
        self._left: dict[str, tuple[str, int]] = {}
        for one in text.split(","):
            point, action, *count = one.split(":")
            self._left[point] = (action, int(count[0]) if count else 1)
        self._lock = threading.Lock()
        self._inside = threading.local()

    def at(self, point: str) -> None:
        """Do what is due at this point."""
        with self._lock:
            action, count = self._left.get(point, ("", 0))
            if not action:
                return
            self._left[point] = (action, count - 1)
            if count > 1:
                return
            del self._left[point]
        structlog.get_logger().info(REACHED, point=point, action=action)
        if action == LOSE:
            raise StreamUnavailable("the answer was lost on purpose")
        os.kill(os.getpid(), SIGNALS[action])

    def around(self, call: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """Give the method with a point before and one after it.

        What delivers nothing or lets nobody in is no step: the point behind it is not reached.
        """

        def watched(*args: Any, **kwargs: Any) -> Any:
            self.at(f"before/{call}")
            self._inside.call = call
            try:
                answer = method(*args, **kwargs)
            finally:
                self._inside.call = ""
            if answer or not call.startswith(("deliveries.", "due.admit")):
                self.at(f"after/{call}")
            return answer

        return watched

    def commits(self, _connection: object) -> None:
        """Tell that a transaction is about to be committed."""
        call = getattr(self._inside, "call", "")
        if call:
            self.at(f"commit/{call}")


class Watched:
    """A port whose every call is watched."""

    def __init__(self, port: object, name: str, trap: Trap) -> None:
        self._port = port
        self._name = name
        self._trap = trap

    def __getattr__(self, method: str) -> Any:
        return self._trap.around(f"{self._name}.{method}", getattr(self._port, method))


@contextmanager
def watching(trap: Trap, settings: Settings, *, pool: Pool, threads: int) -> Iterator[WorkerPorts]:
    """Give a worker's ports, each call of them a point."""
    with open_worker(settings, pool=pool, threads=threads) as ports:
        handler = ports.handler
        assert isinstance(handler, partial)
        parts = {n: Watched(handler.keywords[n], n, trap) for n in HANDLER}
        watched: dict[str, Any] = {n: Watched(getattr(ports, n), n, trap) for n in WATCHED}
        yield replace(ports, handler=partial(handler, **parts), **watched)


def _watch_below_sqlalchemy(trap: Trap) -> None:
    """See the commits, too, that are statements sent through the driver itself."""
    execute = psycopg.Connection.execute

    def watched(connection: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        if query == COMMIT:
            trap.commits(connection)
        return execute(connection, query, *args, **kwargs)

    psycopg.Connection.execute = watched  # type: ignore[assignment, method-assign]


@click.command()
@click.option("--pool")
@click.option("--threads", type=int)
def worker(pool: str, threads: int) -> int:
    """Work as `ppcfetch worker` does, until the point is reached."""
    trap = Trap(os.environ[VARIABLE])
    event.listen(Engine, "commit", trap.commits)
    _watch_below_sqlalchemy(trap)
    logs.configure(pool=pool)
    return run_worker(
        load_settings(), pool=Pool(pool), threads=threads, opening=partial(watching, trap)
    )


def run(arguments: Sequence[str]) -> int:
    """Run the worker that these arguments of `ppcfetch` ask for; gives its exit code."""
    code: int = worker.main(list(arguments[1:]), standalone_mode=False)
    return code
