"""Keep programs running: start them, start again what dies, stop all of them cleanly."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from ppcfetch.adapters.embedded import launcher
from ppcfetch.errors import ConfigurationError

POLL_SECONDS = 0.2
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
CALM_SECONDS = 60.0
LARGEST_LOG_BYTES = 20_000_000
LOG_LOOK_SECONDS = 60.0
EXIT_CONFIGURATION = 2


@dataclass(frozen=True, slots=True)
class Program:
    """One program to keep running: its output goes to the log, settings join our environment."""

    name: str
    command: Sequence[str]
    settings: Mapping[str, str]
    log: Path


@dataclass(slots=True)
class Child:
    """A program's process now, and how patient we are with it.

    Shape: `again` is when to start it again, in monotonic seconds, while process is None.
    """

    program: Program
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = 0.0
    again: float = field(default=0.0)
    log_looked_at: float = field(default=0.0)


class Supervisor:
    """The programs of one `ppcfetch up`. Start and watch it from the main thread.

    The kernel asks the programs to stop when the thread that started them ends, so a killed
    supervisor leaves nothing behind.
    """

    def __init__(self, *, grace_seconds: float, tell: Callable[[str], None]) -> None:
        """Begin with nothing; grace is how long programs may take to stop.

        Shape: tell gets one line for people whenever a program has died.
        """
        self._tell = tell
        self.stopping = threading.Event()
        self._children: list[Child] = []
        self._grace = grace_seconds

    def start(self, program: Program) -> None:
        """Run a program from now on."""
        child = Child(program)
        self._children.append(child)
        self._run(child)

    def watch(self, also: Callable[[], None]) -> None:
        """Start again what dies until asked to stop; calls `also` at each look.

        Raises: ConfigurationError when a program says at its first start that it cannot work.
        """
        while not self.stopping.wait(POLL_SECONDS):
            also()
            self.look()

    def look(self) -> None:
        """Start again what has died and is due. Raises: ConfigurationError, as `watch`."""
        for child in self._children:
            self._look_after(child)

    def stop(self) -> None:
        """Ask all programs to stop, the last one started first, and wait; then use force."""
        running = [c for c in reversed(self._children) if c.process is not None]
        for child in running:
            _signal(child, signal.SIGTERM)
        deadline = time.monotonic() + self._grace
        for child in running:
            if child.process is None:
                continue
            try:
                child.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                structlog.get_logger().warning("program.killed", name=child.program.name)
                _signal(child, signal.SIGKILL)
                child.process.wait()
            child.process = None

    def pids(self) -> dict[str, int]:
        """Give the process id of each running program by its name."""
        return {c.program.name: c.process.pid for c in self._children if c.process is not None}

    def _look_after(self, child: Child) -> None:
        if child.process is None:
            if time.monotonic() >= child.again:
                self._run_again(child)
            return
        code = child.process.poll()
        if code is None:
            _look_at_log(child)
            return
        lived = time.monotonic() - child.started
        if code == EXIT_CONFIGURATION and child.pause == 0.0 and lived < CALM_SECONDS:
            message = f"{child.program.name} cannot work: see {child.program.log}"
            raise ConfigurationError(message)
        child.process = None
        _be_patient(child, calm=lived >= CALM_SECONDS or child.pause == 0.0)
        structlog.get_logger().warning(
            "program.died", name=child.program.name, code=code, again_in_seconds=child.pause
        )
        self._tell(
            f"{child.program.name} has ended with code {code}; starting it again in"
            f" {child.pause:g} s (see {child.program.log})"
        )

    def _run_again(self, child: Child) -> None:
        """Run it, or later: a machine short of processes or space must not end all the others."""
        try:
            self._run(child)
        except OSError as short:
            _be_patient(child, calm=False)
            name = child.program.name
            structlog.get_logger().warning("program.not_started", name=name, error=str(short))
            self._tell(f"{name} cannot be started ({short}); trying again in {child.pause:g} s")

    def _run(self, child: Child) -> None:
        program = child.program
        program.log.parent.mkdir(parents=True, exist_ok=True)
        _shorten(program.log)
        with program.log.open("ab") as log:
            before = [str(os.getpid()), "-1", "-1", str(int(signal.SIGTERM))]
            child.process = subprocess.Popen(
                [sys.executable, "-I", "-S", launcher.__file__, *before, *program.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **program.settings},
                start_new_session=True,
            )
        child.started = time.monotonic()
        structlog.get_logger().info("program.started", name=program.name, pid=child.process.pid)


def _signal(child: Child, number: signal.Signals) -> None:
    if child.process is not None:
        with contextlib.suppress(ProcessLookupError):
            child.process.send_signal(number)


def _be_patient(child: Child, *, calm: bool) -> None:
    """Set when to start a program again: soon when it ran calmly, else after twice the pause."""
    longer = min(max(child.pause * 2, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
    child.pause = FIRST_PAUSE_SECONDS if calm else longer
    child.again = time.monotonic() + child.pause


def _look_at_log(child: Child) -> None:
    """Bound the log of a program that runs for months; a full disk ends nothing."""
    now = time.monotonic()
    if now - child.log_looked_at < LOG_LOOK_SECONDS:
        return
    child.log_looked_at = now
    try:
        _shorten(child.program.log)
    except OSError as full:
        structlog.get_logger().warning(
            "log.not_shortened", name=child.program.name, error=str(full)
        )


def _shorten(log: Path) -> None:
    """Keep one older log file when the log has grown large.

    Copied and emptied, not renamed: a program that runs goes on appending to the file it has.
    """
    if log.exists() and log.stat().st_size > LARGEST_LOG_BYTES:
        shutil.copyfile(log, log.with_suffix(log.suffix + ".1"))
        os.truncate(log, 0)
