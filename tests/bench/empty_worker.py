"""A worker process with all of its protocol and a handler that does nothing."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from ppcfetch.adapters import logs
from ppcfetch.bootstrap.worker import open_worker
from ppcfetch.model.job import Pool
from ppcfetch.ports import Handler, Progress, Run
from ppcfetch.settings import load_settings
from workers.pool import Work, WorkerPool


def main() -> int:
    """Work until SIGTERM; with --tell print each job and when its handler began."""
    parser = argparse.ArgumentParser(description="A worker whose handler does nothing.")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--tell", action="store_true")
    chosen = parser.parse_args()
    pool, settings = Pool.BULK, load_settings()
    work = Work(pool, chosen.threads, settings.limits, settings.sweep_every)
    logs.configure(pool=str(pool))
    with open_worker(settings, pool=pool, threads=chosen.threads) as ports:
        worker = WorkerPool(replace(ports, handler=_handler(tell=chosen.tell)), work)
        signal.signal(signal.SIGTERM, lambda *_: worker.stopping.set())
        return worker.run()


def _handler(*, tell: bool) -> Handler:
    def run(lease: Run) -> Iterator[Progress | None]:
        if tell:
            line = f"{lease.lease.job.id} {time.monotonic_ns()}\n"
            os.write(sys.stdout.fileno(), line.encode())
        yield from ()

    return run


if __name__ == "__main__":
    sys.exit(main())
