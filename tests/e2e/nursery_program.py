"""Import everything once, then fork a process of ours for each line of the standard input.

The input's end ends every child that still lives.
"""

import gc
import importlib
import json
import os
import random
import selectors
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from ppcfetch.cli import main
from tests.e2e import crashing_worker

WARM = (
    "ppcfetch.cli.worker",
    "ppcfetch.adapters.logs",
    "ppcfetch.bootstrap.worker",
    "workers.process",
    "psycopg",
    "sqlalchemy.dialects.postgresql.psycopg",
)
LOOK_SECONDS = 0.02


def serve() -> None:
    """Bear children until the input ends; each one's exit code goes into its file."""
    for module in WARM:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    os.write(1, b"ready\n")
    children: dict[int, str] = {}
    buffer = b""
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        while True:
            if selector.select(LOOK_SECONDS):
                data = os.read(0, 65536)
                if not data:
                    break
                *lines, buffer = (buffer + data).split(b"\n")
                for line in lines:
                    wish = json.loads(line)
                    pid = bear(wish)
                    children[pid] = wish["exit"]
                    os.write(1, f"{pid}\n".encode())
            reap(children)
    for pid in children:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def reap(children: dict[int, str]) -> None:
    """Note the exit codes of the children that have ended."""
    for pid, exit_file in list(children.items()):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            del children[pid]
            partly = Path(f"{exit_file}.part")
            partly.write_text(str(os.waitstatus_to_exitcode(status)))
            partly.rename(exit_file)


def bear(wish: dict[str, Any]) -> int:
    """Fork a child that runs the command line and never comes back."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.chdir(wish["folder"])
        log = os.open(wish["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, source in ((0, nothing), (1, log), (2, log)):
            os.dup2(source, target)
        os.environ.clear()
        os.environ.update(wish["environment"])
        sys.argv = ["ppcfetch", *wish["arguments"]]
        random.seed()
        code = run()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run() -> int:
    """Run the command; a worker that is to crash runs with watched ports."""
    try:
        if crashing_worker.VARIABLE in os.environ:
            return crashing_worker.run(sys.argv[1:])
        main()
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    return 0


if __name__ == "__main__":
    serve()
