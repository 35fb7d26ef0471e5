"""The pace of one process that cannot ask the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock

from ppcfetch.model.egress import Permit
from ppcfetch.ports import Clock

UNKNOWN_ASKERS = 8
"""As if so many processes shared the rate: what is assumed before Redis ever told."""
SECONDS_AFTER_A_FAILURE = 10.0
NO_TIME = timedelta(0)


@dataclass(slots=True)
class _Memory:
    """What this process knows of an egress; seconds of its own clock."""

    last: float = float("-inf")
    rest_until: float = float("-inf")
    is_bad: bool = False


class LonePace:
    """Calls evenly apart, and our own memory of how long an egress rests; threads may share it."""

    def __init__(
        self, egresses: Sequence[str], rate_per_second: float | None, clock: Clock
    ) -> None:
        self._rate = rate_per_second
        self._clock = clock
        self._lock = Lock()
        self._askers = UNKNOWN_ASKERS
        self._memories = {egress: _Memory() for egress in egresses}

    def shared_by(self, askers: int) -> None:
        """Note among how many processes the rate is to be divided."""
        self._askers = max(askers, 1)

    def awake(self) -> list[str]:
        """Give the egresses that do not rest, as far as this process was told."""
        now = self._clock.monotonic()
        return [name for name, memory in self._memories.items() if memory.rest_until <= now]

    def rest(self) -> timedelta | None:
        """Give how long the first of those that rest still does so, None when none rests."""
        now = self._clock.monotonic()
        left = [m.rest_until - now for m in self._memories.values() if m.rest_until > now]
        return timedelta(seconds=min(left)) if left else None

    def ask(self) -> Permit | timedelta:
        """Count one call and give leave for it, or count nothing and give how long to wait."""
        with self._lock:
            now = self._clock.monotonic()
            egress = min(self._memories, key=lambda name: self._next(self._memories[name]))
            memory = self._memories[egress]
            wait = self._next(memory) - now
            if wait > 0:
                return timedelta(seconds=wait)
            memory.last = now
            return Permit(egress)

    def went_well(self, egress: str) -> None:
        """Note a call that was answered."""
        self._memories[egress].is_bad = False

    def went_badly(self, egress: str, rest: timedelta | None) -> timedelta:
        """Note a failed call and how long its egress rests; gives how long all of them do."""
        with self._lock:
            memory, now = self._memories[egress], self._clock.monotonic()
            memory.is_bad = True
            if rest is not None:
                memory.rest_until = max(memory.rest_until, now + rest.total_seconds())
            first = min(memory.rest_until for memory in self._memories.values())
            return timedelta(seconds=max(first - now, 0.0))

    def _next(self, memory: _Memory) -> float:
        """Give the instant from which the egress may be used."""
        apart = self._askers / self._rate if self._rate else 0.0
        if memory.is_bad:
            apart = max(apart, SECONDS_AFTER_A_FAILURE)
        return max(memory.last + apart, memory.rest_until)
