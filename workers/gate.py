"""Whether a worker's pool may work, as an operator last said.

Asked for twice a second by a thread of its own, since a blocking read may last longer than a
pause may take to begin.
"""

import threading

import structlog

from ppcfetch.errors import Unavailable
from ppcfetch.model.job import Pool
from ppcfetch.ports import Pauses

LOOK_SECONDS = 0.5


class Gate:
    """The gate of a pool: `closed` is set while it is paused, and before the first answer."""

    def __init__(self, pauses: Pauses, *, pool: Pool) -> None:
        """Begin closed, so that a worker started during a pause takes nothing."""
        self.closed = threading.Event()
        self.closed.set()
        self._pauses = pauses
        self._pool = pool
        self._answered = False

    def look(self) -> None:
        """Ask once; without an answer what was known last still holds."""
        try:
            pause = self._pauses.pause_of(self._pool)
        except Unavailable:
            return
        log = structlog.get_logger().bind(pool=str(self._pool))
        if pause is None:
            if self._answered and self.closed.is_set():
                log.info("pool.resumed")
            self.closed.clear()
        elif not (self._answered and self.closed.is_set()):
            log.info("pool.paused", by=pause.by, reason=pause.reason)
            self.closed.set()
        self._answered = True

    def watch(self, stopping: threading.Event) -> None:
        """Look until asked to stop; the body of a daemon thread."""
        self.look()
        while not stopping.wait(LOOK_SECONDS):
            self.look()
