"""Waiting for what surely comes: the limit only ends a replay that would never end."""

import subprocess
import time
from collections.abc import Callable

from ppcfetch.errors import PpcFetchError

POLL_SECONDS = 0.02
Condition = Callable[[], object]


def wait(
    predicate: Condition,
    what: str,
    *,
    seconds: float,
    child: subprocess.Popen[bytes] | None = None,
    left: Callable[[], str] = str,
) -> None:
    """Return when something holds.

    Shape: left says what is missing still, for the message of the error.
    Raises: PpcFetchError when the child ends before, or after the seconds; it says what to do.
    """
    deadline = time.monotonic() + seconds
    while not predicate():
        if child is not None and child.poll() is not None:
            raise PpcFetchError(f"a program ended with code {child.returncode} before {what}")
        if time.monotonic() > deadline:
            raise PpcFetchError(_in_vain(what, seconds, left()))
        time.sleep(POLL_SECONDS)


def _in_vain(what: str, seconds: float, left: str) -> str:
    return (
        f"waited {seconds:,.0f} seconds in vain until {what}{left and f' ({left})'}; this machine"
        " seems to be overloaded: try again when it is quieter, each incident by itself, such as"
        " ppcfetch incident deploys, and with longer leases, such as --lease-seconds 5"
    )
