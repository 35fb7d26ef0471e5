"""What a doctor finds: facts of the servers, and what each of them means for us."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

OLDEST_REDIS = (6, 2)
LARGEST_OFFSET = timedelta(seconds=5)
LARGEST_OFFSET_TO_WORK_WITH = timedelta(minutes=5)


class Verdict(StrEnum):
    """GOOD works, WARN works but may lose time or comfort, BAD cannot work."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was looked at, what was found, and what to do about it.

    Shape: advice is empty when there is nothing to do; away tells that a server did not answer,
    which may pass by itself.
    """

    check: str
    verdict: Verdict
    found: str
    advice: str = ""
    away: bool = False


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """What PostgreSQL says of itself.

    Shape: ahead tells that a newer release has migrated the schema already; migrations are
    additive first, so this one goes on working.
    Units: offset is its clock minus ours, positive when it is ahead.
    """

    version: str
    revision: str | None
    head: str
    ahead: bool
    offset: timedelta
    reader_role: bool
    durable: bool

    @property
    def is_fit(self) -> bool:
        """Whether the schema is one that this release can work on."""
        return self.ahead or self.revision == self.head


@dataclass(frozen=True, slots=True)
class RedisFacts:
    """What Redis says of itself.

    Shape: policy and persistent are None when we may not ask; lost counts entries that a
    consumer holds whose name nobody bears; epoch is None when it has none.
    """

    kind: str
    version: tuple[int, ...]
    policy: str | None
    persistent: bool | None
    offset: timedelta
    epoch: str | None
    lost: int


def findings_of_database(facts: DatabaseFacts) -> Iterator[Finding]:
    """Judge the database."""
    yield Finding("database", Verdict.GOOD, f"PostgreSQL {facts.version} answers")
    if facts.revision == facts.head:
        yield Finding("schema", Verdict.GOOD, f"at the newest revision, {facts.head}")
    elif facts.ahead:
        yield Finding(
            "schema",
            Verdict.WARN,
            f"at {facts.revision}, newer than this release, which knows {facts.head}",
            "finish the upgrade: replace the processes of the older release",
        )
    else:
        yield Finding(
            "schema",
            Verdict.BAD,
            f"at {facts.revision or 'no revision'}, the code wants {facts.head}",
            "run: ppcfetch db upgrade",
        )
    yield _clock("database clock", facts.offset)
    if not facts.durable:
        yield Finding(
            "durability",
            Verdict.WARN,
            "fsync or synchronous_commit is off: a crash may lose answered requests",
            "turn both on in PostgreSQL's configuration",
        )
    if not facts.reader_role:
        yield Finding(
            "reader role",
            Verdict.WARN,
            "the role ppcfetch_reader is missing or not granted; the site reads in read-only"
            " transactions alone",
            "run ppcfetch db upgrade as a user that may create roles",
        )


def findings_of_redis(facts: RedisFacts, *, epoch: str | None) -> Iterator[Finding]:
    """Judge Redis; epoch is the database's value, None when the database did not tell."""
    version = ".".join(map(str, facts.version))
    if facts.version < OLDEST_REDIS:
        advice = "use Redis 6.2 or newer, or Valkey"
        yield Finding("redis", Verdict.BAD, f"{facts.kind} {version} is too old", advice)
    else:
        yield Finding("redis", Verdict.GOOD, f"{facts.kind} {version} answers")
    yield _policy(facts.policy)
    yield _clock("redis clock", facts.offset)
    if facts.persistent is False:
        yield Finding(
            "persistence",
            Verdict.WARN,
            "Redis keeps nothing on disk: after a restart the stream is rebuilt from the rows",
            "turn on appendonly to spare that",
        )
    if epoch is not None and facts.epoch != epoch:
        yield Finding(
            "epoch",
            Verdict.WARN,
            "Redis is new or has lost its data; the next sweep publishes every active job",
            "nothing, if a worker is running",
        )
    if facts.lost:
        yield Finding(
            "pending",
            Verdict.WARN,
            f"{facts.lost} messages are held under names that no process bears",
            "nothing, if a worker of that pool is running: it claims them within a lease",
        )


def _policy(policy: str | None) -> Finding:
    if policy is None:
        advice = "make sure that maxmemory-policy is noeviction"
        return Finding("eviction", Verdict.WARN, "Redis does not let us see its policy", advice)
    if policy != "noeviction":
        return Finding(
            "eviction",
            Verdict.BAD,
            f"maxmemory-policy is {policy}: Redis may throw the stream away",
            "set maxmemory-policy noeviction",
        )
    return Finding("eviction", Verdict.GOOD, "maxmemory-policy is noeviction")


def _clock(name: str, offset: timedelta) -> Finding:
    apart = abs(offset)
    text = f"{apart.total_seconds():.1f} s {'ahead of' if offset > timedelta(0) else 'behind'} ours"
    if apart >= LARGEST_OFFSET_TO_WORK_WITH:
        return Finding(name, Verdict.BAD, text, "let NTP set the clocks of all machines")
    if apart >= LARGEST_OFFSET:
        return Finding(name, Verdict.WARN, text, "let NTP set the clocks of all machines")
    return Finding(name, Verdict.GOOD, text)
