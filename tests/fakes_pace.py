"""The shared pace in memory: buckets and breakers for all workers that are given it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from ppcfetch.adapters.redis.pace import LEAST_PART, PaceRules, burst_of
from ppcfetch.errors import ArchiveBlocked, ArchiveThrottled, ProxyFailed, Retryable
from ppcfetch.model.egress import DIRECT, Permit
from ppcfetch.model.job import Pool

EXACT = 1e-6


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

    def shut(self, now: float, trial: timedelta) -> float:
        rest = self.remaining(now)
        if rest or not self.rest or self.trial is None:
            return rest
        return max(self.trial + trial.total_seconds() - now, 0.0)


@dataclass(slots=True)
class Way:
    """One egress: its breaker, its bucket, and what of it is kept for bulk."""

    name: str
    breaker: Breaker = field(default_factory=Breaker)
    factor: float = 1.0
    tokens: float = 1.0
    kept: float = 1.0
    filled: float | None = None

    def fill(self, now: float, *, rate: float, share: float) -> None:
        since = self.filled if self.filled is not None else now
        come = (now - since) * rate * self.factor
        kept = min(come * share, 1 - self.kept)
        self.kept += kept
        self.tokens = min(burst_of(rate), self.tokens + come - kept)
        self.filled = now

    def lacking(self, pool: Pool, *, rate: float, rules: PaceRules) -> float:
        is_bulk, room, share = pool is Pool.BULK, 1 - self.kept, rules.bulk_share
        reserve = max(1.0, burst_of(rate) * rules.reserve) if is_bulk else 0.0
        missing = reserve + 1 - self.tokens
        if missing <= EXACT or (is_bulk and room <= EXACT):
            return 0.0
        ways = [missing / (1 - share), missing + room, *([room / share] if is_bulk else [])]
        return min(ways) / (rate * self.factor)

    def take(self, pool: Pool) -> None:
        if pool is Pool.BULK and self.kept >= 1 - EXACT:
            self.kept -= 1
        else:
            self.tokens -= 1


class FakePace:
    """Port Pace on a virtual clock."""

    def __init__(
        self,
        rate_per_second: float | None,
        now: Callable[[], float],
        rules: PaceRules,
        egresses: Sequence[str] = (DIRECT,),
    ) -> None:
        self._rate = rate_per_second
        self._now = now
        self._rules = rules
        self._ways = {name: Way(name) for name in egresses}
        self._unanswered = 0

    def ask(self, pool: Pool) -> Permit | timedelta:
        waits = {name: self._wait(way, pool) for name, way in self._ways.items()}
        free = [self._ways[name] for name, wait in waits.items() if not wait]
        if not free:
            # A wait too short for a time is a wait all the same.
            return timedelta(seconds=min(waits.values())) or timedelta.resolution
        way = max(free, key=lambda way: math.inf if way.breaker.rest else way.tokens)
        if self._rate is not None:
            way.take(pool)
        if way.breaker.rest:
            way.breaker.trial = self._now()
        return Permit(way.name)

    def went_well(self, permit: Permit) -> None:
        way = self._ways[permit.egress]
        if not way.breaker.remaining(self._now()):
            self._unanswered = 0
            way.breaker = Breaker()
            way.factor = min(1.0, way.factor + self._rules.recovery)

    def went_badly(self, permit: Permit, error: Retryable) -> timedelta | None:
        way, now = self._ways[permit.egress], self._now()
        asked = min(error.retry_after or timedelta(0), self._rules.longest_asked).total_seconds()
        breaker, opens = way.breaker, self._opens(way.breaker, error)
        if rest := breaker.remaining(now):
            if asked > rest:
                breaker.opened, breaker.rest = now, asked
        elif opens or breaker.rest or asked:
            self._open(way, error, asked)
        if not breaker.remaining(now):
            return None
        shut = [other.breaker.shut(now, self._rules.trial) for other in self._ways.values()]
        return timedelta(seconds=min(shut))

    def _wait(self, way: Way, pool: Pool) -> float:
        shut = way.breaker.shut(self._now(), self._rules.trial)
        if shut or self._rate is None:
            return shut
        way.fill(self._now(), rate=self._rate, share=self._rules.bulk_share)
        return way.lacking(pool, rate=self._rate, rules=self._rules)

    def _opens(self, breaker: Breaker, error: Retryable) -> bool:
        """Count the failure, and tell whether it opens the breaker."""
        if isinstance(error, ProxyFailed):
            return True
        if isinstance(error, ArchiveThrottled | ArchiveBlocked):
            breaker.failures = self._unanswered = 0
            return True
        breaker.failures += 1
        self._unanswered += 1
        return max(breaker.failures, self._unanswered) >= self._rules.failures

    def _open(self, way: Way, error: Retryable, asked: float) -> None:
        rules, breaker = self._rules, way.breaker
        own = min(rules.first_rest(error) * 2**breaker.opens, rules.longest_rest).total_seconds()
        breaker.opened, breaker.rest, breaker.trial = self._now(), max(own, asked), None
        breaker.opens += 1
        told = isinstance(error, ArchiveThrottled | ArchiveBlocked)
        if told and not isinstance(error, ProxyFailed):
            way.factor = max(way.factor / 2, LEAST_PART)
