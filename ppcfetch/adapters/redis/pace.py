"""How often the archive may be asked: one bucket and one breaker an egress, for all workers.

While Redis is away each process paces itself, more slowly than the whole fleet would have been.
"""

from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from typing import Any

from redis import Redis

from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.lone_pace import LonePace
from ppcfetch.adapters.redis.scripts import PACE, Argument, Scripts
from ppcfetch.errors import ArchiveBlocked, ArchiveThrottled, Retryable, StreamUnavailable
from ppcfetch.model.egress import Permit
from ppcfetch.model.job import Pool
from ppcfetch.ports import Clock

CACHED_SECONDS = 0.1
AWAY_SECONDS = 5.0
LEAST_PART = 1 / 64
NO_TIME = timedelta(0)


@dataclass(frozen=True, slots=True)
class PaceRules:
    """How the breaker and the rate react.

    Shape: failures is how many calls in a row may go unanswered; recovery is the part of the
    full rate that each success gives back after a halving.
    Units: throttled_rest and failed_rest are the first rests, doubled each time up to
    longest_rest; longest_asked bounds what the archive may ask for; trial is how long one call
    may take to try whether all may go on.
    """

    throttled_rest: timedelta = timedelta(seconds=5)
    failed_rest: timedelta = timedelta(seconds=2)
    longest_rest: timedelta = timedelta(minutes=3)
    longest_asked: timedelta = timedelta(days=1)
    trial: timedelta = timedelta(seconds=30)
    failures: int = 5
    recovery: float = 0.01


class RedisPace:
    """Port Pace for one egress; threads may share it.

    Shape: rate_per_second None is no limit; then only the breaker makes anybody wait.
    """

    def __init__(
        self,
        client: Redis,
        keys: Keys,
        *,
        egress: str,
        rate_per_second: float | None,
        clock: Clock,
        rules: PaceRules | None = None,
    ) -> None:
        self._scripts = Scripts(client, PACE)
        self._keys = [keys.pace(egress)]
        self._permit = Permit(egress)
        self._rate = rate_per_second
        self._rules = rules or PaceRules()
        self._clock = clock
        self._alone = LonePace(rate_per_second, clock)
        self._lock = Lock()
        self._free_until = -1.0
        self._away_until = -1.0
        self._is_clean = False

    def ask(self, pool: Pool) -> Permit | timedelta:
        """Count one call and give leave for it, or count nothing and give how long to wait."""
        return self._wait(pool) or self._permit

    def _wait(self, pool: Pool) -> timedelta:
        if rest := self._alone.rest():
            return rest
        if self._rate is None and self._clock.monotonic() < self._free_until:
            return NO_TIME
        reply = self._run("ask", self._bucket(pool))
        if reply is None:
            return self._alone.ask()
        wait_ms, is_clean = reply
        self._learn(is_clean=bool(is_clean))
        return timedelta(milliseconds=wait_ms)

    def went_well(self, permit: Permit) -> None:  # noqa: ARG002 - one egress so far
        """Tell that a call was answered; recovers the pace slowly and closes the breaker."""
        self._alone.went_well()
        if not self._is_clean:
            self._run("went_well", [self._rules.recovery])

    def went_badly(self, permit: Permit, error: Retryable) -> timedelta | None:  # noqa: ARG002 - one egress so far
        """Tell of a failed call; gives how long nobody may call, None when calls may go on."""
        self._learn(is_clean=False)
        is_told = isinstance(error, ArchiveThrottled | ArchiveBlocked)
        asked = min(max(error.retry_after or NO_TIME, NO_TIME), self._rules.longest_asked)
        rest_ms = self._run("went_badly", self._failure(is_told=is_told, asked=asked))
        if rest_ms is None:
            own = self._rules.throttled_rest if is_told else NO_TIME
            rest = max(asked, own) or None
        else:
            rest = timedelta(milliseconds=rest_ms) if rest_ms >= 0 else None
        self._alone.went_badly(rest)
        return rest

    def _bucket(self, pool: Pool) -> list[Argument]:
        rate = self._rate or 0.0
        # Room for one second's calls; a part of it is kept from bulk for those who wait.
        burst = max(2.0, rate)
        reserve = max(1.0, burst / 4) if pool is Pool.BULK else 0.0
        return [rate, burst, reserve, _ms(self._rules.trial)]

    def _failure(self, *, is_told: bool, asked: timedelta) -> list[Argument]:
        rules = self._rules
        first = rules.throttled_rest if is_told else rules.failed_rest
        return [
            int(is_told), _ms(asked), _ms(first), _ms(rules.longest_rest),
            rules.failures, LEAST_PART,
        ]  # fmt: skip

    def _learn(self, *, is_clean: bool) -> None:
        with self._lock:
            self._is_clean = is_clean
            self._free_until = self._clock.monotonic() + CACHED_SECONDS if is_clean else -1.0

    def _run(self, step: str, arguments: list[Argument]) -> Any:
        """Give a step's reply, None while Redis is away."""
        if self._clock.monotonic() < self._away_until:
            return None
        try:
            return self._scripts.run(step, self._keys, arguments)
        except StreamUnavailable:
            # Not asked again at once: a server that hangs would cost a timeout a call.
            self._away_until = self._clock.monotonic() + AWAY_SECONDS
            return None


def _ms(length: timedelta) -> int:
    return round(length / timedelta(milliseconds=1))
