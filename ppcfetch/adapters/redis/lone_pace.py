"""The pace of one process that cannot ask the others."""

from datetime import timedelta
from threading import Lock

from ppcfetch.ports import Clock

PART = 8
"""As if eight processes shared the rate: they cannot be counted while Redis is away."""
SECONDS_AFTER_A_FAILURE = 10.0


class LonePace:
    """Calls evenly apart, and our own memory of how long nobody may call; threads may share it."""

    def __init__(self, rate_per_second: float | None, clock: Clock) -> None:
        self._apart = PART / rate_per_second if rate_per_second else 0.0
        self._clock = clock
        self._lock = Lock()
        self._last = float("-inf")
        self._rest_until = float("-inf")
        self._is_bad = False

    def rest(self) -> timedelta:
        """Give how long nobody may call, as far as this process was told; zero when it may."""
        return timedelta(seconds=max(self._rest_until - self._clock.monotonic(), 0.0))

    def ask(self) -> timedelta:
        """Count one call and give zero, or count nothing and give how long to wait first."""
        with self._lock:
            now = self._clock.monotonic()
            apart = max(self._apart, SECONDS_AFTER_A_FAILURE) if self._is_bad else self._apart
            wait = self._last + apart - now
            if wait > 0:
                return timedelta(seconds=wait)
            self._last = now
            return timedelta(0)

    def went_well(self) -> None:
        """Note a call that was answered."""
        self._is_bad = False

    def went_badly(self, rest: timedelta | None) -> None:
        """Note a failed call and how long nobody may call."""
        with self._lock:
            self._is_bad = True
            if rest is not None:
                until = self._clock.monotonic() + rest.total_seconds()
                self._rest_until = max(self._rest_until, until)
