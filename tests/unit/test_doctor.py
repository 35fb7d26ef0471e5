"""What the doctor makes of the facts: one row for each judgement."""

from dataclasses import replace
from datetime import timedelta

import pytest

from ppcfetch.errors import ConfigurationError, DatabaseUnavailable, StreamUnavailable
from ppcfetch.model.health import (
    DatabaseFacts,
    RedisFacts,
    Verdict,
    findings_of_database,
    findings_of_redis,
)
from ppcfetch.usecases.examine import examine

DATABASE = DatabaseFacts(
    version="18.4",
    revision="0002",
    head="0002",
    ahead=False,
    offset=timedelta(0),
    reader_role=True,
    durable=True,
)
REDIS = RedisFacts(
    kind="Valkey",
    version=(9, 1, 2),
    policy="noeviction",
    persistent=True,
    offset=timedelta(0),
    epoch="e",
    lost=0,
)


def verdicts(findings: object) -> dict[str, Verdict]:
    """Give the verdict of each check."""
    return {one.check: one.verdict for one in findings}  # type: ignore[attr-defined]  # findings


def test_servers_in_order_give_no_advice() -> None:
    """All checks are made, and all are good."""
    findings = [*findings_of_database(DATABASE), *findings_of_redis(REDIS, epoch="e")]

    assert {one.verdict for one in findings} == {Verdict.GOOD}
    assert not any(one.advice for one in findings)


@pytest.mark.parametrize(
    ("change", "check", "verdict"),
    [
        ({"revision": None}, "schema", Verdict.BAD),
        ({"revision": "0001"}, "schema", Verdict.BAD),
        # during a deploy a newer release migrates first; the older one goes on working
        ({"revision": "0003", "ahead": True}, "schema", Verdict.WARN),
        ({"offset": timedelta(seconds=4)}, "database clock", Verdict.GOOD),
        ({"offset": timedelta(seconds=-6)}, "database clock", Verdict.WARN),
        ({"offset": timedelta(minutes=-6)}, "database clock", Verdict.BAD),
        ({"durable": False}, "durability", Verdict.WARN),
        ({"reader_role": False}, "reader role", Verdict.WARN),
    ],
)
def test_the_database_is_judged(change: dict[str, object], check: str, verdict: Verdict) -> None:
    """One fact at a time."""
    facts = replace(DATABASE, **change)  # type: ignore[arg-type]  # from the table above

    findings = list(findings_of_database(facts))

    assert verdicts(findings)[check] is verdict
    assert all(one.advice for one in findings if one.verdict is not Verdict.GOOD)


@pytest.mark.parametrize(
    ("change", "check", "verdict"),
    [
        ({"version": (6, 0, 16)}, "redis", Verdict.BAD),
        ({"version": (6, 2)}, "redis", Verdict.GOOD),
        ({"policy": "allkeys-lru"}, "eviction", Verdict.BAD),
        ({"policy": None}, "eviction", Verdict.WARN),
        ({"persistent": False}, "persistence", Verdict.WARN),
        ({"offset": timedelta(minutes=10)}, "redis clock", Verdict.BAD),
        ({"epoch": None}, "epoch", Verdict.WARN),
        ({"lost": 3}, "pending", Verdict.WARN),
    ],
)
def test_redis_is_judged(change: dict[str, object], check: str, verdict: Verdict) -> None:
    """One fact at a time."""
    facts = replace(REDIS, **change)  # type: ignore[arg-type]  # from the table above

    findings = list(findings_of_redis(facts, epoch="e"))

    assert verdicts(findings)[check] is verdict
    assert all(one.advice for one in findings if one.verdict is not Verdict.GOOD)


def test_a_server_that_does_not_answer_is_a_finding_that_may_pass() -> None:
    """Whoever keeps a worker running starts it again; a wrong setting would not pass."""

    def no_database() -> DatabaseFacts:
        raise DatabaseUnavailable("connection refused")

    def no_redis() -> RedisFacts:
        raise StreamUnavailable("timed out")

    def wrong() -> DatabaseFacts:
        raise ConfigurationError("no such host")

    away = examine(database=no_database, redis=no_redis, epoch=lambda: "e")
    misconfigured = examine(database=wrong, redis=lambda: REDIS, epoch=lambda: "e")

    assert [(one.check, one.away) for one in away] == [("database", True), ("redis", True)]
    assert [one.away for one in misconfigured if one.verdict is Verdict.BAD] == [False]


def test_the_epoch_is_not_asked_of_a_schema_that_has_none() -> None:
    """An empty database is one finding, not an error."""
    facts = replace(DATABASE, revision=None)

    findings = examine(database=lambda: facts, redis=lambda: REDIS, epoch=lambda: 1 / 0)  # type: ignore[arg-type,return-value]  # must not be called

    assert verdicts(findings)["schema"] is Verdict.BAD
    assert "epoch" not in verdicts(findings)
