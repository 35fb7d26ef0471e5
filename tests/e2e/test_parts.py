"""Huge domains with real processes: walked in parts, repaired in parts, ended once."""

import json
from collections import Counter
from typing import Any

from tests.e2e.plant import Plant, assert_truth
from tests.waiting import wait_until

DOMAIN = "ads-6000.example"
SPLIT = "700"
VIDEO = 3


def prepare(plant: Plant, **behaviour: object) -> None:
    """Let walks of a few hundred ads be split, over an archive whose windows part ads."""
    plant.settings["PPCFETCH_SPLIT_ADS"] = SPLIT
    plant.behave(date_window="last_shown", **behaviour)


def jobs(plant: Plant, state: str = "done") -> list[dict[str, Any]]:
    """The jobs of the only fetch in a state, in the order in which they were made."""
    return [*plant.query("SELECT * FROM jobs WHERE state = %s ORDER BY id", state)]


def repeated(plant: Plant) -> int:
    """How many pages behind the first of any walk were asked for more than once."""
    searches = plant.requests()["searches"]
    pages = Counter(
        (one["format"], one["first_day"], one["last_day"], one["cursor"])
        for one in searches
        if one["cursor"] is not None and one["outcome"] == "ok"
    )
    return sum(count - 1 for count in pages.values())


def test_a_huge_domain_is_walked_in_parts_by_several_workers(plant: Plant) -> None:
    """The truth ends in the database, both directions, and the fetch ends once."""
    prepare(plant, latency_ms=10)
    workers = [plant.start_worker("bulk"), plant.start_worker("bulk")]
    plant.start_worker("interactive")
    visitor = plant.visitor()

    visitor.refresh(DOMAIN)
    fetch = plant.wait_for_end(DOMAIN)

    assert_truth(plant, DOMAIN)
    done = jobs(plant)
    walks = [job for job in done if job["kind"] == "walk"]
    parents = {job["parent_id"] for job in walks if job["parent_id"]}
    assert fetch["found"] == 6000
    assert plant.one("SELECT count(*) FROM jobs") == len(done)
    assert len(walks) - len(parents) >= 6
    assert all(worker.events("lease.taken") for worker in workers)
    assert sum(len(worker.events("walk.split")) for worker in workers) == len(parents) - 1
    assert plant.one("SELECT count(*) FROM fetches") == 1
    wait_until(lambda: plant.messages() == 0, describe="the stream is empty")


def test_windows_that_overlap_leave_one_walk_a_format(plant: Plant) -> None:
    """Nothing is walked twice, and nothing is lost."""
    prepare(plant)
    plant.behave(date_window="shown")
    plant.start_worker("bulk")

    plant.command("fetch", DOMAIN)
    plant.start_worker("interactive")
    plant.wait_for_end(DOMAIN)

    walks = [job for job in jobs(plant) if job["kind"] == "walk"]
    assert [(job["format"], job["first_day"]) for job in walks] == [
        (None, None),
        (1, None),
        (2, None),
        (3, None),
    ]
    assert_truth(plant, DOMAIN)


def test_kill_9_of_a_worker_repeats_at_most_one_page_a_walk(plant: Plant) -> None:
    """What the dead worker held goes on at its checkpoints, and the fetch still ends once."""
    prepare(plant, latency_ms=40)
    threads = 4
    first = plant.start_worker("bulk", threads=threads)
    plant.start_worker("bulk", threads=threads)
    plant.start_worker("interactive")
    plant.command("fetch", DOMAIN)
    plant.wait_for_pages(DOMAIN, 25)

    first.kill()
    fetch = plant.wait_for_end(DOMAIN)

    assert_truth(plant, DOMAIN)
    assert fetch["found"] == 6000
    assert repeated(plant) <= threads
    assert plant.one("SELECT count(*) FROM fetches") == 1


def test_ads_that_are_shown_meanwhile_are_there_in_the_end(plant: Plant) -> None:
    """They leave their part for the top; the walk from the top that follows finds them."""
    prepare(plant, churn_per_page=3, churn_pages=60)
    plant.start_worker("bulk", threads=4)
    plant.start_worker("interactive")

    plant.command("fetch", DOMAIN)
    plant.wait_for_end(DOMAIN)

    assert_truth(plant, DOMAIN)
    assert any(job["kind"] == "top up" for job in jobs(plant))


def test_a_part_that_dies_is_named_and_repaired_alone(plant: Plant) -> None:
    """The fetch is partial meanwhile; only the part's pages are asked for again."""
    prepare(plant, fault="bad_request_400", format=VIDEO, after_calls=3)
    plant.start_worker("bulk", threads=4)
    plant.start_worker("interactive")

    code, told = plant.run("fetch", DOMAIN, "--wait", "--json")
    partial = plant.wait_for_end(DOMAIN, "partial")
    (dead,) = jobs(plant, "dead")
    page = plant.visitor().get(f"/domains/{DOMAIN}/fetches/{partial['id']}")
    _, listed = plant.run("dead", "list", "--json")

    assert code == 1
    assert "video ads" in json.loads(told)["fetch"]["error"]
    assert "video ads" in partial["error"]
    assert "video ads" in page.get_text(" ", strip=True)
    assert [job["part"] for job in json.loads(listed)] == ["video ads"]
    assert dead["pages"] == 2
    plant.behave(date_window="last_shown")
    before = {creative for creative, ad in plant.truth(DOMAIN).items() if ad["format"] != "video"}
    assert before <= plant.stored(DOMAIN).keys()

    asked = len(plant.requests()["searches"])
    plant.run("dead", "retry", str(dead["id"]))
    fetch = plant.wait_for_end(DOMAIN)

    again = plant.requests()["searches"][asked:]
    assert {one["format"] for one in again} <= {VIDEO, None}
    assert len([one for one in again if one["format"] is None]) <= 2
    assert fetch["id"] == partial["id"]
    assert_truth(plant, DOMAIN)
