"""Processes of ours that start in a moment: forked from one that has imported everything.

Each is a process of its own with its own id, so that signals reach it alone.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from tests.waiting import wait_until


@dataclass(frozen=True)
class Born:
    """A forked process, as much of `Popen` as tests use."""

    pid: int
    exit_file: Path

    def poll(self) -> int | None:
        """Give its exit code, None while it lives; a signal that ended it is negative."""
        return int(self.exit_file.read_text()) if self.exit_file.exists() else None

    def wait(self, timeout: float = 30) -> int:
        """Give its exit code when it has ended. Raises: TimeoutExpired."""
        try:
            wait_until(self.exit_file.exists, describe=f"{self.pid} has ended", timeout=timeout)
        except AssertionError:
            raise subprocess.TimeoutExpired(str(self.exit_file), timeout) from None
        return int(self.exit_file.read_text())

    def is_suspended(self) -> bool:
        """Tell whether a signal has stopped it for now."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8")
        except FileNotFoundError:
            return False
        return stat.rpartition(")")[2].split()[0] == "T"


class Nursery:
    """The process that the others are forked from; safe from any thread."""

    def __init__(self, program: "subprocess.Popen[str]") -> None:
        self._program = program
        self._lock = Lock()

    def start(
        self, arguments: Sequence[str], *, environment: Mapping[str, str], folder: Path, log: Path
    ) -> Born:
        """Run `ppcfetch` with these arguments in a fork; its output goes to the log."""
        exit_file = log.with_suffix(".exit")
        wish = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "folder": str(folder),
            "log": str(log),
            "exit": str(exit_file),
        }
        wires = self._program.stdin, self._program.stdout
        assert all(wires)
        with self._lock:
            print(json.dumps(wish), file=wires[0], flush=True)
            answer = wires[1].readline() if wires[1] else ""
        assert answer, "the nursery has died"
        return Born(int(answer), exit_file)


@contextmanager
def nursery() -> Iterator[Nursery]:
    """Give a nursery; what it bore and still lives is killed at the end."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.nursery_program"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={n: v for n, v in os.environ.items() if not n.startswith("PPCFETCH_")},
        cwd=Path(__file__).parents[2],
    ) as program:
        try:
            assert program.stdout
            assert program.stdout.readline() == "ready\n"
            yield Nursery(program)
        finally:
            assert program.stdin
            program.stdin.close()
            program.wait(30)
