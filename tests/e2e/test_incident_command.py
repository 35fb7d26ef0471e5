"""`ppcfetch incident` replays what went wrong elsewhere: the usual code has it, ours has not.

Figures are compared, not times: how fast this machine is does not matter.
"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(400)


def replayed(incident: str) -> dict[str, Any]:
    """Run the command to its end; gives what it says as JSON."""
    # Without our settings: a replay stands on servers of its own alone.
    environment = {n: v for n, v in os.environ.items() if not n.startswith("PPCFETCH_")}
    run = subprocess.run(
        [sys.executable, "-m", "ppcfetch", "incident", incident, "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=380,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (told,) = json.loads(run.stdout)
    return dict(told)


@pytest.fixture(scope="module")
def night() -> dict[str, Any]:
    return replayed("fourteen-hours")


@pytest.fixture(scope="module")
def healing() -> dict[str, Any]:
    return replayed("healer")


@pytest.fixture(scope="module")
def deploys() -> dict[str, Any]:
    return replayed("deploys")


def test_in_the_night_every_usual_worker_ends_up_on_the_same_job(night: dict[str, Any]) -> None:
    naive = night["naive"]

    assert naive["workers_on_it_at_once"] == naive["workers"]
    assert naive["deliveries_of_the_long_job"] >= naive["workers"]
    assert naive["others_that_waited_a_lease"] == naive["other_jobs"]
    assert naive["archive_pages_asked_again"] > 0
    assert naive["doubled"] > 0


def test_ours_runs_the_long_job_once_while_others_start_at_once(night: dict[str, Any]) -> None:
    ours = night["ours"]

    assert ours["workers_on_it_at_once"] == 1
    assert ours["deliveries_of_the_long_job"] >= 2, "it moved on to the bulk pool"
    assert ours["longest_wait_seconds"] < night["naive"]["longest_wait_seconds"]
    assert (ours["lost"], ours["doubled"]) == (0, 0)


def test_the_usual_healer_turns_103_jobs_into_thousands_of_messages(
    healing: dict[str, Any],
) -> None:
    naive = healing["naive"]

    assert naive["jobs"] == 103
    assert naive["messages"] == 103 * (naive["rounds_of_healing"] + 1)


def test_ours_heals_as_often_and_leaves_exactly_103_messages(healing: dict[str, Any]) -> None:
    ours = healing["ours"]

    assert ours["rounds_of_healing"] == healing["naive"]["rounds_of_healing"]
    assert (ours["jobs"], ours["messages"], ours["most_messages_of_one_job"]) == (103, 103, 1)
    assert (ours["lost"], ours["doubled"]) == (0, 0)


def test_the_usual_deploy_strands_a_job_each_time_and_those_before_the_group(
    deploys: dict[str, Any],
) -> None:
    naive = deploys["naive"]

    assert naive["pending_for_ever"] == naive["deploys"]
    assert naive["never_delivered"] == 3
    assert naive["lost"] == naive["deploys"] + 3
    assert naive["consumer_names"] == naive["deploys"] + 1


def test_ours_loses_nothing_at_a_deploy_and_needs_no_new_names(deploys: dict[str, Any]) -> None:
    ours = deploys["ours"]

    assert ours["jobs_done"] == ours["jobs"]
    assert (ours["lost"], ours["doubled"], ours["pending_for_ever"]) == (0, 0, 0)
    assert ours["consumer_names"] <= 2, "a killed worker's name is free again after a lease"
    assert ours["archive_pages_asked_again"] <= ours["deploys"]
