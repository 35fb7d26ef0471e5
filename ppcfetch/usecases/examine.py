"""Examine the servers: what works, what does not, and what to do about it."""

from collections.abc import Callable, Sequence

from ppcfetch.errors import PpcFetchError, Unavailable
from ppcfetch.model.health import (
    DatabaseFacts,
    Finding,
    RedisFacts,
    Verdict,
    findings_of_database,
    findings_of_redis,
)


def examine(
    *,
    database: Callable[[], DatabaseFacts],
    redis: Callable[[], RedisFacts],
    epoch: Callable[[], str],
) -> Sequence[Finding]:
    """Give all findings; a server that does not answer is one."""
    found: list[Finding] = []
    value = None
    try:
        facts = database()
        found.extend(findings_of_database(facts))
        value = epoch() if facts.is_fit else None
    except PpcFetchError as error:
        found.append(_away("database", error, "PPCFETCH_DATABASE_URL"))
    try:
        found.extend(findings_of_redis(redis(), epoch=value))
    except PpcFetchError as error:
        found.append(_away("redis", error, "PPCFETCH_REDIS_URL"))
    return found


def _away(check: str, error: PpcFetchError, setting: str) -> Finding:
    advice = f"start it, or correct {setting}"
    away = isinstance(error, Unavailable)
    return Finding(check, Verdict.BAD, str(error), advice, away=away)
