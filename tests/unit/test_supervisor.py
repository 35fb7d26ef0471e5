"""Programs under the supervisor: what a year of running must not bring about."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from tests.waiting import wait_until
from workers.supervisor import LARGEST_LOG_BYTES, Program, Supervisor

TALKS = """
import signal
signal.signal(signal.SIGUSR1, lambda *_: print("more", flush=True))
print("begun", flush=True)
while True:
    signal.pause()
"""


def a_program(folder: Path, code: str) -> Program:
    """Give a program that runs Python code."""
    return Program("talker", [sys.executable, "-c", code], {}, folder / "logs" / "talker.log")


def test_the_log_of_a_program_that_never_ends_stays_bounded(tmp_path: Path) -> None:
    """It goes on appending to the same file, and one older file is kept."""
    program = a_program(tmp_path, TALKS)
    supervisor = Supervisor(grace_seconds=5, tell=lambda _: None)
    supervisor.start(program)
    wait_until(lambda: program.log.read_bytes() == b"begun\n", describe="it has begun")
    os.truncate(program.log, LARGEST_LOG_BYTES + 1)

    supervisor.look()
    length = program.log.stat().st_size
    os.kill(supervisor.pids()["talker"], signal.SIGUSR1)
    wait_until(lambda: program.log.read_bytes() != b"", describe="it has said more")
    after = program.log.read_bytes()
    supervisor.stop()

    assert (length, after) == (0, b"more\n")
    assert program.log.with_suffix(".log.1").stat().st_size == LARGEST_LOG_BYTES + 1


def test_a_program_that_cannot_be_started_again_is_tried_later(tmp_path: Path) -> None:
    """A machine short of space or processes must not make the supervisor end all the others."""
    program = a_program(tmp_path, "raise SystemExit(3)")
    told: list[str] = []
    supervisor = Supervisor(grace_seconds=5, tell=told.append)
    supervisor.start(program)
    look_until(supervisor, lambda: bool(told))
    program.log.unlink()
    program.log.mkdir()

    look_until(supervisor, lambda: "cannot be started" in told[-1])
    program.log.rmdir()
    look_until(supervisor, lambda: "ended with code 3" in told[-1])
    supervisor.stop()

    assert supervisor.pids() == {}


def look_until(supervisor: Supervisor, has_happened: Callable[[], bool]) -> None:
    """Let the supervisor look after its programs until something has happened."""

    def looked() -> bool:
        supervisor.look()
        return has_happened()

    wait_until(looked, describe="the supervisor has seen it")
