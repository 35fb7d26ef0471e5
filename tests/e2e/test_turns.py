"""Whose turn it is, with real processes: nobody's many domains stand before another's one."""

import pytest

from ppcfetch.model.fetch import FetchReason
from tests.e2e.crowd import ask_for
from tests.e2e.plant import Plant, assert_truth
from tests.waiting import wait_until

MANY = 500
GIANT = "ads-2000000.example"
SMALL = "ads-250.example"


def waiting(plant: Plant, who: int) -> int:
    """Count somebody's jobs that have not begun."""
    count: int = plant.one(
        "SELECT count(*) FROM jobs WHERE asker = %s AND state = 'queued' AND taken_at IS NULL", who
    )
    return count


@pytest.mark.timeout(300)
def test_one_domain_of_somebody_is_read_while_five_hundred_of_another_wait(plant: Plant) -> None:
    plant.settings["PPCFETCH_WINDOW"] = "8"
    plant.visitor()
    bob = plant.visitor("bob@mail.example")
    (ann_id, bob_id) = (int(row["id"]) for row in plant.query("SELECT id FROM users ORDER BY id"))
    domains = [f"ads-{1 + number}.example" for number in range(MANY + 1) if number != 249]
    ask_for(plant, domains, reason=FetchReason.PERSON, who=ann_id)

    bob.refresh(SMALL)
    plant.start_worker("interactive")
    plant.wait_for_end(SMALL)

    assert waiting(plant, ann_id) > MANY // 2
    assert waiting(plant, bob_id) == 0
    assert_truth(plant, SMALL)
    code, told = plant.run("explain", domains[-1])
    assert code == 0
    assert "waits for its turn" in told


def test_three_pages_in_bulk_are_not_behind_a_giant_even_with_one_thread(plant: Plant) -> None:
    plant.settings |= {"PPCFETCH_BULK_PAGES": "20", "PPCFETCH_SPLIT_ADS": str(10**9)}
    ask_for(plant, [GIANT], reason=FetchReason.IMPORT)
    worker = plant.start_worker("bulk", threads=1)
    plant.wait_for_pages(GIANT, 5)

    ask_for(plant, [SMALL], reason=FetchReason.IMPORT)
    plant.wait_for_end(SMALL)

    at_its_end = plant.pages(GIANT)
    assert plant.one("SELECT state FROM fetches WHERE domain = %s", GIANT) == "active"
    wait_until(lambda: plant.pages(GIANT) > at_its_end, describe="the giant goes on", timeout=30)
    spills = worker.events("job.spilled")
    assert spills
    assert all(spill["pages"] % 20 == 0 for spill in spills)
    starts = plant.one("SELECT max(starts) FROM jobs")
    assert starts <= 1
