"""How long processes had to wait for a core of the machine, as its kernel counts it."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

Shares = dict[str, tuple[int, int]]


def shares(processes: Iterable[int]) -> Shares:
    """Give for each thread of the processes how long it ran and how long it waited for a core.

    Shape: empty where the kernel does not count. Units: nanoseconds since the thread began.
    """
    found: Shares = {}
    for process in processes:
        for file in Path(f"/proc/{process}/task").glob("*/schedstat"):
            with suppress(OSError, ValueError):  # it has ended meanwhile
                ran, waited, _slices = map(int, file.read_text(encoding="utf-8").split())
                found[file.parent.name] = ran, waited
    return found


def slowdown(before: Shares, after: Shares) -> float:
    """Give how many times longer the threads took than on cores of their own; one at least."""
    past = {thread: before.get(thread, (0, 0)) for thread in after}
    ran = sum(after[thread][0] - past[thread][0] for thread in after)
    waited = sum(after[thread][1] - past[thread][1] for thread in after)
    return (ran + waited) / ran if ran > 0 and waited > 0 else 1.0
