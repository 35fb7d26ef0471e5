"""The shared pace in memory: one bucket and one breaker for all workers that are given it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from ppcfetch.adapters.redis.pace import LEAST_PART, PaceRules
from ppcfetch.errors import ArchiveBlocked, ArchiveThrottled, Retryable
from ppcfetch.model.egress import DIRECT, Permit
from ppcfetch.model.job import Pool


@dataclass(slots=True)
class Breaker:
    """When calls may go on; rest 0 is closed, in seconds like all times here."""

    opened: float = 0.0
    rest: float = 0.0
    trial: float | None = None
    opens: int = 0
    failures: int = 0

    def remaining(self, now: float) -> float:
        return max(self.opened + self.rest - now, 0.0)


class FakePace:
    """Port Pace on a virtual clock."""

    def __init__(
        self, rate_per_second: float | None, now: Callable[[], float], rules: PaceRules
    ) -> None:
        self._rate = rate_per_second
        self._now = now
        self._rules = rules
        self._breaker = Breaker()
        self._factor = 1.0
        self._tokens = 1.0
        self._filled: float | None = None

    def ask(self, pool: Pool) -> Permit | timedelta:
        wait = self._breaker.remaining(self._now()) or self._trial() or self._bucket(pool)
        if not wait and self._breaker.rest:
            self._breaker.trial = self._now()
        return timedelta(seconds=wait) if wait else Permit(DIRECT)

    def went_well(self, _permit: Permit) -> None:
        if not self._breaker.remaining(self._now()):
            self._breaker = Breaker()
            self._factor = min(1.0, self._factor + self._rules.recovery)

    def went_badly(self, _permit: Permit, error: Retryable) -> timedelta | None:
        is_told = isinstance(error, ArchiveThrottled | ArchiveBlocked)
        asked = min(error.retry_after or timedelta(0), self._rules.longest_asked).total_seconds()
        breaker = self._breaker
        breaker.failures = 0 if is_told else breaker.failures + 1
        if rest := breaker.remaining(self._now()):
            if asked > rest:
                breaker.opened, breaker.rest = self._now(), asked
        elif is_told or breaker.rest or asked or breaker.failures >= self._rules.failures:
            self._open(asked, is_told=is_told)
        rest = breaker.remaining(self._now())
        return timedelta(seconds=rest) if rest else None

    def _open(self, asked: float, *, is_told: bool) -> None:
        rules, breaker = self._rules, self._breaker
        first = rules.throttled_rest if is_told else rules.failed_rest
        own = min(first * 2**breaker.opens, rules.longest_rest).total_seconds()
        breaker.opened, breaker.rest, breaker.trial = self._now(), max(own, asked), None
        breaker.opens += 1
        if is_told:
            self._factor = max(self._factor / 2, LEAST_PART)

    def _trial(self) -> float:
        if not self._breaker.rest or self._breaker.trial is None:
            return 0.0
        return max(self._breaker.trial + self._rules.trial.total_seconds() - self._now(), 0.0)

    def _bucket(self, pool: Pool) -> float:
        if self._rate is None:
            return 0.0
        burst, allowed = max(2.0, self._rate), self._rate * self._factor
        reserve = max(1.0, burst / 4) if pool is Pool.BULK else 0.0
        since = self._filled if self._filled is not None else self._now()
        filled = (self._now() - since) * allowed
        self._tokens, self._filled = min(burst, self._tokens + filled), self._now()
        if (missing := reserve + 1 - self._tokens) > 1e-9:
            return missing / allowed
        self._tokens -= 1
        return 0.0
