"""How often the archive may be asked: one bucket and one breaker an egress, for all workers.

While Redis is away each process paces itself by its share of the rate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from typing import Any

from redis import Redis

from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.lone_pace import LonePace
from ppcfetch.adapters.redis.scripts import PACE, Argument, Scripts
from ppcfetch.errors import (
    ArchiveBlocked,
    ArchiveThrottled,
    ProxyFailed,
    Retryable,
    StreamUnavailable,
)
from ppcfetch.model.egress import Permit
from ppcfetch.model.job import Pool
from ppcfetch.ports import Clock

CACHED_SECONDS = 0.1
AWAY_SECONDS = 5.0
LEAST_PART = 1 / 64
LONGEST_WHY = 200
NO_TIME = timedelta(0)


@dataclass(frozen=True, slots=True)
class PaceRules:
    """How the breaker and the rate react, and what of the rate is whose.

    Shape: failures is how many calls in a row may go unanswered; recovery is the part of the
    full rate that each success gives back after a halving. Of a full bucket, reserve is the part
    that bulk leaves to those who wait; of the rate, bulk_share is the part that is bulk's even
    when they would take all of it.
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
    reserve: float = 0.25
    bulk_share: float = 0.1

    def first_rest(self, error: Retryable) -> timedelta:
        """Give the first rest after such a failure."""
        told = isinstance(error, ArchiveThrottled | ArchiveBlocked)
        return self.throttled_rest if told else self.failed_rest


def burst_of(rate_per_second: float) -> float:
    """Give how many calls a bucket holds: those of a second, two at least."""
    return max(2.0, rate_per_second)


class RedisPace:
    """Port Pace over the egresses of a process; threads may share it.

    Shape: rate_per_second is that of each egress, None for no limit; then only the breakers make
    anybody wait. asker is a name that this process keeps when it is started again.
    """

    def __init__(
        self,
        client: Redis,
        keys: Keys,
        *,
        egresses: Sequence[str],
        rate_per_second: float | None,
        clock: Clock,
        asker: str,
        rules: PaceRules | None = None,
    ) -> None:
        self._scripts = Scripts(client, PACE)
        self._keys = keys
        self._egresses = list(egresses)
        self._rate = rate_per_second
        self._rules = rules or PaceRules()
        self._clock = clock
        self._asker = asker
        self._alone = LonePace(egresses, rate_per_second, clock)
        self._lock = Lock()
        self._free_until = -1.0
        self._away_until = -1.0
        self._is_clean = False

    def ask(self, pool: Pool) -> Permit | timedelta:
        """Count one call and give leave for it, or count nothing and give how long to wait.

        Shape: of several egresses that may be used the one with most calls left, one on trial
        before all; of equals any.
        """
        if self._rate is None and self._clock.monotonic() < self._free_until:
            return Permit(self._egresses[self._somewhere(len(self._egresses))])
        awake = self._alone.awake()
        rest = self._alone.rest()
        if not awake:
            return rest or NO_TIME
        keys = [self._keys.paces, self._keys.askers, *map(self._keys.pace, awake)]
        reply = self._run("ask", keys, self._question(pool, len(awake)))
        if reply is None:
            return self._alone.ask()
        wait_ms, number, is_clean, askers = reply
        self._alone.shared_by(askers)
        self._learn(is_clean=bool(is_clean) and rest is None)
        if not wait_ms:
            return Permit(awake[number])
        wait = timedelta(milliseconds=wait_ms)
        return wait if rest is None else min(wait, rest)

    def went_well(self, permit: Permit) -> None:
        """Tell that a call was answered; recovers the pace slowly and closes the breaker."""
        self._alone.went_well(permit.egress)
        if not self._is_clean:
            keys = [self._keys.paces, self._keys.pace(permit.egress)]
            self._run("went_well", keys, [self._rules.recovery])

    def went_badly(self, permit: Permit, error: Retryable) -> timedelta | None:
        """Tell of a failed call; None when calls over its egress may go on.

        Else it rests, and this is the time until some egress may call again.
        """
        self._learn(is_clean=False)
        own = permit.egress
        asked = min(max(error.retry_after or NO_TIME, NO_TIME), self._rules.longest_asked)
        others = [egress for egress in self._egresses if egress != own]
        keys = [self._keys.paces, *map(self._keys.pace, [own, *others])]
        reply = self._run("went_badly", keys, self._failure(error, asked))
        if reply is None:
            told = isinstance(error, ArchiveThrottled | ArchiveBlocked)
            rest = max(asked, self._rules.first_rest(error) if told else NO_TIME) or None
            until = self._alone.went_badly(own, rest)
            return None if rest is None else until
        until_ms, rest_ms = reply
        rest = timedelta(milliseconds=rest_ms) if rest_ms else None
        # Another's rest may be known to this process alone, when Redis has lost it.
        until = self._alone.went_badly(own, rest)
        return None if rest is None else max(timedelta(milliseconds=until_ms), until)

    def _question(self, pool: Pool, count: int) -> list[Argument]:
        rate, rules = self._rate or 0.0, self._rules
        burst = burst_of(rate)
        # Those who wait find a part of the bucket, one call at least, untouched by bulk.
        reserve = max(1.0, burst * rules.reserve)
        return [
            rate, burst, reserve, rules.bulk_share, int(pool is Pool.BULK), _ms(rules.trial),
            self._asker, self._somewhere(count),
        ]  # fmt: skip

    def _failure(self, error: Retryable, asked: timedelta) -> list[Argument]:
        rules = self._rules
        return [
            _kind(error), _ms(asked), _ms(rules.first_rest(error)), _ms(rules.longest_rest),
            rules.failures, LEAST_PART, _ms(rules.trial), str(error)[:LONGEST_WHY],
        ]  # fmt: skip

    def _somewhere(self, count: int) -> int:
        return min(int(self._clock.random() * count), count - 1)

    def _learn(self, *, is_clean: bool) -> None:
        with self._lock:
            self._is_clean = is_clean
            self._free_until = self._clock.monotonic() + CACHED_SECONDS if is_clean else -1.0

    def _run(self, step: str, keys: list[str], arguments: list[Argument]) -> Any:
        """Give a step's reply, None while Redis is away."""
        if self._clock.monotonic() < self._away_until:
            return None
        try:
            return self._scripts.run(step, keys, arguments)
        except StreamUnavailable:
            # Not asked again at once: a server that hangs would cost a timeout a call.
            self._away_until = self._clock.monotonic() + AWAY_SECONDS
            return None


def _kind(error: Retryable) -> str:
    """Give what a failure says: that we are too many, that the way is broken, or nothing."""
    match error:
        case ProxyFailed():
            return "broken"
        case ArchiveThrottled() | ArchiveBlocked():
            return "told"
    return "silent"


def _ms(length: timedelta) -> int:
    return round(length / timedelta(milliseconds=1))
