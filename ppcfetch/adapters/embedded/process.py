"""Start a server as our child, find one that an earlier owner left behind, end either."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppcfetch.adapters.embedded import launcher
from ppcfetch.adapters.embedded.account import Account
from ppcfetch.errors import ConfigurationError

_POLL_SECONDS = 0.02
_POLITE_SECONDS = 30.0  # a shutdown writes out what is in memory
_FIRM_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Launch:
    """One server to run; ``inside`` is its working folder while it runs, which identifies it."""

    command: Sequence[str]
    inside: Path
    account: Account
    polite: signal.Signals
    firm: signal.Signals = signal.SIGKILL


def spawn(launch: Launch, *, log: int) -> subprocess.Popen[bytes]:
    """The running server, in a session of its own so that Ctrl-C reaches only its owner.

    On Linux the kernel ends it when the *thread* that called this ends: start servers from a
    thread that lives as long as they should, such as the main one.
    """
    user, group = launch.account.uid, launch.account.gid
    if not launch.account.switch:
        user = group = -1
    before = [os.getpid(), user, group, int(launch.polite)]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", launcher.__file__, *map(str, before), *launch.command],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd="/",
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
        start_new_session=True,
    )


def end(process: subprocess.Popen[bytes], launch: Launch) -> None:
    """Stop our own child: politely, then firmly, then by force, also when it is suspended."""
    steps = (
        (launch.polite, _POLITE_SECONDS),
        (launch.firm, _FIRM_SECONDS),
        (signal.SIGKILL, _FIRM_SECONDS),
    )
    for number, patience in steps:
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            return
    raise ConfigurationError(f"process {process.pid} does not end, not even by force")


def clear(launch: Launch) -> None:
    """End what an earlier run left in the folder: an orphaned server, or parts of a killed one.

    Call it only while holding the folder's lock: then nobody owns what is found.
    """
    for number, patience in ((launch.polite, _POLITE_SECONDS), (signal.SIGKILL, _FIRM_SECONDS)):
        left = survivors(launch)
        for pid in left:
            # A server's own children are its affair as long as it lives.
            if number == signal.SIGKILL or _parent(pid) not in left:
                _signal(pid, number)
            _signal(pid, signal.SIGCONT)
        if _gone(launch, patience):
            return
    raise ConfigurationError(
        f"processes {survivors(launch)} in {launch.inside} do not end: stop them by hand"
    )


def survivors(launch: Launch) -> list[int]:
    """Processes of this very server: its program, its user, and working in its data folder.

    Shape: empty where the system has no ``/proc``; the server's own check is then the only one.
    """
    program = Path(launch.command[0]).name[:15]  # the kernel keeps 15 letters
    inside = launch.inside.resolve()
    return [
        int(entry.name)
        for entry in Path("/proc").glob("[0-9]*")
        if _matches(entry, program=program, inside=inside, uid=launch.account.uid)
    ]


def _matches(entry: Path, *, program: str, inside: Path, uid: int) -> bool:
    try:
        return (
            entry.stat().st_uid == uid
            and (entry / "comm").read_text().strip() == program
            and (entry / "cwd").readlink() == inside
        )
    except OSError:  # it ended while we looked, or is none of our business
        return False


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _gone(launch: Launch, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while survivors(launch):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
