"""Let in who waits for a turn, whenever there may be room; a thread of its own in a worker."""

import threading
from collections import deque
from collections.abc import Iterable

import structlog

from ppcfetch.errors import Unavailable
from ppcfetch.ports import WorkerPorts
from ppcfetch.usecases.admit import admit

PAUSE_SECONDS = 0.05
"""How long it rests after a look that let nobody in, so that short jobs share one look."""


class Admitter:
    """Looks for room after leases and ends of runs: any number before a look cost one look."""

    def __init__(self, parts: WorkerPorts, *, woken: threading.Event | None = None) -> None:
        """Keep the ports; `run` is the body of the thread."""
        self._due = parts.due
        self._doorbell = parts.doorbell
        self._clock = parts.clock
        self._woken = woken or threading.Event()
        self._put_back: deque[int] = deque()

    def wake(self, put_back: Iterable[int]) -> None:
        """Ask for a look. Shape: put_back are jobs that gave way, whose messages are settled."""
        self._put_back.extend(put_back)
        self._woken.set()

    def run(self) -> None:
        """Look for ever."""
        while True:
            self._woken.wait()
            self._woken.clear()
            if not self.look():
                self._clock.sleep(PAUSE_SECONDS)

    def look(self) -> int:
        """Let in and ring; gives for how many. What fails is made good by the next sweep."""
        again = [self._put_back.popleft() for _ in range(len(self._put_back))]
        try:
            return admit(due=self._due, doorbell=self._doorbell, again=again)
        except Unavailable as silent:
            structlog.get_logger().warning("admission.failed", error=str(silent))
            return 0
