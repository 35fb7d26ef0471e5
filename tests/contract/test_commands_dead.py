"""`ppcfetch dead` and `ppcfetch jobs` on real servers."""

from ppcfetch.model.outcome import Dead
from tests.contract.commands_rig import Commands


def dead_jobs(commands: Commands, *domains: str) -> list[int]:
    """Give jobs that have just died."""
    found = [commands.database.queued(domain) for domain in domains]
    rig = commands.database
    rig.jobs.settle([(rig.lease(job_id), Dead("wrong shape")) for job_id in found])
    return found


def test_dead_jobs_are_listed_newest_first_and_go_on_behind_a_job(commands: Commands) -> None:
    first, second = dead_jobs(commands, "shop.example", "other.example")

    rows = commands.json("dead", "list")
    rest = commands.json("dead", "list", "--after", str(second))

    assert [(row["job"], row["error"]) for row in rows] == [
        (second, "wrong shape"),
        (first, "wrong shape"),
    ]
    assert [row["job"] for row in rest] == [first]


def test_people_see_a_table(commands: Commands) -> None:
    dead_jobs(commands, "shop.example")

    shown = commands.run("dead", "list").stdout

    assert "shop.example" in shown
    assert "wrong shape" in shown
    assert commands.run("dead", "list", "--pool", "bulk").stdout.strip() == "Nothing is dead."


def test_a_discarded_job_is_left_out_unless_all_are_asked_for(commands: Commands) -> None:
    (job_id,) = dead_jobs(commands, "shop.example")

    done = commands.json("dead", "discard", str(job_id), "--reason", "nobody wants it")

    assert done == [{"job": job_id, "refused": None}]
    assert commands.json("dead", "list") == []
    assert [row["job"] for row in commands.json("dead", "list", "--all")] == [job_id]
    assert [pool["dead"] for pool in commands.json("status")] == [0, 0]


def test_a_discard_needs_a_reason(commands: Commands) -> None:
    assert commands.run("dead", "discard", "1").exit_code == 2


def test_a_retried_job_is_published_and_one_that_is_not_dead_is_refused(
    commands: Commands,
) -> None:
    (job_id,) = dead_jobs(commands, "shop.example")

    result = commands.run("dead", "retry", str(job_id), "999", "--reason", "repaired")

    assert result.exit_code == 1
    assert f"Job {job_id} is queued again." in result.stdout
    assert "there is no dead job 999" in result.stderr
    assert [row["messages_waiting"] for row in commands.json("status")] == [1, 0]


def test_a_dead_job_is_shown_with_what_operators_did(commands: Commands) -> None:
    (job_id,) = dead_jobs(commands, "shop.example")
    commands.run("dead", "discard", str(job_id), "--reason", "nobody wants it")

    story = commands.json("dead", "show", str(job_id))
    shown = commands.run("dead", "show", str(job_id)).stdout

    assert story["job"]["error"] == "wrong shape"
    assert [noted["deed"]["reason"] for noted in story["deeds"]] == ["nobody wants it"]
    assert "nobody wants it" in shown


def test_a_job_that_lives_is_not_shown_among_the_dead(commands: Commands) -> None:
    job_id = commands.database.queued()

    result = commands.run("dead", "show", str(job_id))

    assert "is not dead but queued" in str(result.exception)


def test_jobs_can_be_filtered_by_state_pool_and_domain(commands: Commands) -> None:
    (dead,) = dead_jobs(commands, "shop.example")
    queued = commands.database.queued("other.example")

    def listed(*filters: str) -> list[int]:
        return [row["job"] for row in commands.json("jobs", *filters)]

    assert listed() == [queued, dead]
    assert listed("--state", "dead") == [dead]
    assert listed("--state", "dead", "--state", "queued") == [queued, dead]
    assert listed("--pool", "bulk") == []
    assert listed("--domain", "www.other.example") == [queued]
    assert listed("--after", str(queued)) == [dead]
    assert listed("--limit", "1") == [queued]
