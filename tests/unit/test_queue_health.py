"""What the doctor makes of the queue: one row for each judgement."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ppcfetch.model.health import DatabaseFacts, RedisFacts, Verdict
from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Pause
from ppcfetch.model.queue_health import PoolFacts, QueueFacts, SweeperTurn, findings_of_queue
from ppcfetch.usecases.examine import examine
from tests.builders import NOON

POOL = PoolFacts(
    pool=Pool.BULK,
    due=3,
    running=2,
    oldest=timedelta(seconds=9),
    dead=0,
    workers=1,
    has_group=True,
    orphans=0,
)
TURN = SweeperTurn("host.bulk.1", timedelta(seconds=40))
PATIENCE = timedelta(seconds=60)
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


def test_a_queue_in_order_gives_no_advice() -> None:
    findings = list(findings_of_queue(QueueFacts((POOL,), TURN, PATIENCE)))

    assert [one.check for one in findings] == ["pool bulk", "stream bulk", "sweeper", "dead jobs"]
    assert {one.verdict for one in findings} == {Verdict.GOOD}
    assert not any(one.advice for one in findings)


@pytest.mark.parametrize(
    ("change", "check", "found", "advice"),
    [
        ({"workers": 0}, "pool bulk", "no worker is alive", "ppcfetch worker --pool bulk"),
        ({"oldest": timedelta(seconds=61)}, "pool bulk", "waits for 61 s", "start more workers"),
        (
            {"pause": Pause(Pool.BULK, NOON, "ann", "a look"), "workers": 0},
            "pool bulk",
            "paused since 2026-11-30 12:00 UTC by ann: a look",
            "ppcfetch resume bulk",
        ),
        ({"pause": Pause(Pool.BULK, NOON, "ann")}, "pool bulk", "by ann;", "resume bulk"),
        ({"has_group": False}, "stream bulk", "no consumer group", "makes the group at 0"),
        ({"orphans": 4}, "stream bulk", "4 messages lie behind", "publishes their jobs again"),
        ({"dead": 2}, "dead jobs", "2 need a person", "ppcfetch dead list"),
    ],
)
def test_a_pool_is_judged(change: dict[str, Any], check: str, found: str, advice: str) -> None:
    facts = QueueFacts((replace(POOL, **change),), TURN, PATIENCE)

    (finding,) = (one for one in findings_of_queue(facts) if one.verdict is not Verdict.GOOD)

    assert (finding.check, finding.verdict) == (check, Verdict.WARN)
    assert found in finding.found
    assert advice in finding.advice


@pytest.mark.parametrize(
    ("turn", "found"),
    [
        (None, "nobody has swept yet"),
        (SweeperTurn("host.bulk.1", timedelta(seconds=-30)), "host.bulk.1, the last to sweep"),
        (SweeperTurn("host.bulk.1", timedelta(0)), "ran out 0 s ago"),
    ],
)
def test_a_queue_that_nobody_sweeps_needs_a_worker(turn: SweeperTurn | None, found: str) -> None:
    facts = QueueFacts((POOL,), turn, PATIENCE)

    (finding,) = (one for one in findings_of_queue(facts) if one.verdict is not Verdict.GOOD)

    assert found in finding.found
    assert "start a worker" in finding.advice


def test_the_queue_is_looked_at_only_when_both_servers_are_fit() -> None:
    unfit = replace(DATABASE, revision=None)
    queue = QueueFacts((POOL,), TURN, PATIENCE)

    def checks(database: DatabaseFacts) -> set[str]:
        found = examine(
            database=lambda: database,
            redis=lambda: REDIS,
            epoch=lambda: "e",
            queue=lambda: queue,
        )
        return {one.check for one in found}

    assert "sweeper" in checks(DATABASE)
    assert "sweeper" not in checks(unfit)
