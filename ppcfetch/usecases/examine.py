"""Examine the servers: what works, what does not, and what to do about it."""

from collections.abc import Callable, Sequence

from ppcfetch.errors import PpcFetchError, Unavailable
from ppcfetch.model.egress import EgressFacts, finding_of_egresses
from ppcfetch.model.health import (
    DatabaseFacts,
    Finding,
    RedisFacts,
    Verdict,
    findings_of_database,
    findings_of_redis,
)
from ppcfetch.model.queue_health import QueueFacts, findings_of_queue


def examine(
    *,
    database: Callable[[], DatabaseFacts],
    redis: Callable[[], RedisFacts],
    epoch: Callable[[], str],
    queue: Callable[[], QueueFacts] | None = None,
    egresses: Callable[[], Sequence[EgressFacts]] | None = None,
) -> Sequence[Finding]:
    """Give all findings; a server that does not answer is one.

    Shape: queue and egresses are left out by processes that only want to know whether they can
    work.
    """
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
    # The queue is looked at when both servers are fit: else there is nothing to compare.
    if queue is not None and not any(one.verdict is Verdict.BAD for one in found):
        found.extend(findings_of_queue(queue()))
    if egresses is not None and not any(one.verdict is Verdict.BAD for one in found):
        found.append(finding_of_egresses(egresses()))
    return found


def _away(check: str, error: PpcFetchError, setting: str) -> Finding:
    advice = f"start it, or correct {setting}"
    away = isinstance(error, Unavailable)
    return Finding(check, Verdict.BAD, str(error), advice, away=away)
