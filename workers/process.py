"""A worker process: from settings to its exit code."""

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager

from ppcfetch.bootstrap.worker import open_worker
from ppcfetch.model.job import Pool
from ppcfetch.ports import WorkerPorts
from ppcfetch.settings import Settings
from workers.pool import Work, WorkerPool
from workers.signals import on_signals

EXIT_SECOND_SIGNAL = 130


def run_worker(
    settings: Settings,
    *,
    pool: Pool,
    threads: int,
    opening: Callable[..., AbstractContextManager[WorkerPorts]] = open_worker,
) -> int:
    """Work until SIGTERM or SIGINT, hand back what is in hand, and give the exit code.

    A second signal ends the process at once; nothing is lost by that.
    Shape: opening gives the ports and closes them; crash tests watch them through it.
    Raises: ConfigurationError when the database, Redis or the settings cannot work.
    """
    work = Work(
        pool=pool,
        threads=threads,
        limits=settings.limits,
        sweep=settings.sweep_every,
        budget=settings.budget_of(pool),
    )
    with opening(settings, pool=pool, threads=threads) as ports:
        worker = WorkerPool(ports, work)

        def stop() -> None:
            if worker.stopping.is_set():
                os._exit(EXIT_SECOND_SIGNAL)
            worker.stopping.set()

        on_signals((signal.SIGTERM, signal.SIGINT), stop)
        return worker.run()
