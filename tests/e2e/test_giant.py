"""A giant among others: killed again and again, it neither loses, doubles nor delays anything.

`GIANT=2000000` makes it as large as the archive's largest, and kills ten times.
"""

import os
from collections import Counter
from itertools import count
from typing import Any

import pytest

from tests.e2e.plant import Plant, Process, assert_truth
from tests.waiting import wait_until

ADS = int(os.environ.get("GIANT", "12000"))
KILLS = 10 if ADS >= 1_000_000 else 2
GIANT = f"ads-{ADS}.example"
SLOTS = 8
PAGE_SIZE = 100
LONGEST_SECONDS = 120 + ADS / 500


@pytest.mark.timeout(LONGEST_SECONDS + 300)
def test_kills_of_both_workers_lose_and_double_nothing(plant: Plant) -> None:
    """Compared field by field with the archive's own truth, in both directions."""
    plant.settings["PPCFETCH_SPLIT_ADS"] = str(max(ADS // 100, 1000))
    plant.settings["PPCFETCH_INTERACTIVE_PAGES"] = "20"
    plant.behave(date_window="last_shown")
    workers, numbers = start(plant), count(1)
    plant.visitor().refresh(GIANT)

    for kill in range(1, KILLS + 1):
        wait_for_share(plant, kill / (KILLS + 1))
        for worker in workers:
            worker.kill()
        small = f"ads-{next(numbers)}.example"
        plant.command("fetch", small)
        workers = start(plant)
        plant.wait_for_end(small)
    fetch = end_of_giant(plant)

    assert (fetch["state"], fetch["found"]) == ("done", ADS)
    assert_truth(plant, GIANT)
    for job in {row["job_id"] for row in plant.query("SELECT DISTINCT job_id FROM page_log")}:
        pages = plant.query("SELECT page FROM page_log WHERE job_id = %s ORDER BY page", job)
        assert [row["page"] for row in pages] == list(range(1, len(pages) + 1))
    assert repeated(plant) <= KILLS * 2 * SLOTS
    wait_until(lambda: plant.messages() == 0, describe="the stream is empty")


def start(plant: Plant) -> list[Process]:
    """Start a worker of each pool."""
    return [plant.start_worker("interactive"), plant.start_worker("bulk", threads=SLOTS)]


def wait_for_share(plant: Plant, share: float) -> None:
    """Wait until that share of the giant is stored."""
    wait_until(
        lambda: plant.pages(GIANT) * PAGE_SIZE >= share * ADS,
        describe=f"{share:.0%} of {GIANT} are stored",
        timeout=LONGEST_SECONDS,
    )


def end_of_giant(plant: Plant) -> dict[str, Any]:
    """Wait for the giant's end, which may take long, and give its fetch."""
    statement = "SELECT * FROM fetches WHERE domain = %s"
    wait_until(
        lambda: plant.query(statement, GIANT)[0]["state"] != "active",
        describe=f"the fetch of {GIANT} has ended",
        timeout=LONGEST_SECONDS,
    )
    (fetch,) = plant.query(statement, GIANT)
    return fetch


def repeated(plant: Plant) -> int:
    """Count the pages behind the first of any walk that were asked for more than once."""
    searches = plant.requests()["searches"]
    pages = Counter(
        (one["domain"], one["format"], one["first_day"], one["last_day"], one["cursor"])
        for one in searches
        if one["cursor"] is not None and one["outcome"] == "ok"
    )
    return sum(number - 1 for number in pages.values())
