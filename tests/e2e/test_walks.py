"""How far fetches walk, with real processes: down to a mark, to the end, again from the top."""

from itertools import count
from typing import Any

import httpx
import pytest

from tests.e2e.plant import Plant, assert_truth

DOMAIN = "ads-950.example"
ADS = 950
PAGE = 100
WALK = 10
TOP_UP = 1


@pytest.fixture
def complete(plant: Plant) -> Plant:
    """A plant that has read the domain to its end, and refreshes it without an overlap."""
    plant.settings["PPCFETCH_OVERLAP_HOURS"] = "0"
    plant.start_worker()
    fetch(plant)
    assert_truth(plant, DOMAIN)
    return plant


def fetch(plant: Plant, *options: str) -> dict[str, Any]:
    """Fetch the domain once more and give the fetch's row."""
    code, told = plant.run("fetch", DOMAIN, "--wait", *options)
    row = plant.wait_for_end(DOMAIN)
    assert code == 0, told
    return {**row, "told": told}


def show_again(plant: Plant, ads: int) -> None:
    """Let ads be shown again now."""
    wanted = {"domain": DOMAIN, "ads": ads}
    httpx.post(f"{plant.archive}/_emulator/churn", json=wanted).raise_for_status()


def searches(plant: Plant) -> int:
    """Count the pages of the domain that were asked for, and forget them."""
    asked = len([s for s in plant.requests()["searches"] if s["domain"] == DOMAIN])
    httpx.delete(f"{plant.archive}/_emulator/requests").raise_for_status()
    return asked


def pages_down_to(plant: Plant, mark: str) -> int:
    """Count the pages from the top to the first ad last shown before a moment."""
    order = enumerate(plant.truth(DOMAIN).values())
    older = (place for place, ad in order if ad["last_shown"] and ad["last_shown"] < mark)
    return next(older) // PAGE + 1


def test_a_refresh_asks_for_the_pages_that_its_changes_fill(complete: Plant) -> None:
    mark = complete.one("SELECT mark FROM domains").isoformat(timespec="microseconds")
    show_again(complete, 250)
    wanted = pages_down_to(complete, mark)
    searches(complete)

    refresh = fetch(complete)

    assert wanted == 3
    assert searches(complete) == wanted + TOP_UP == refresh["pages"]
    assert (refresh["kind"], refresh["new"], refresh["unseen"]) == ("refresh", 0, None)
    assert "a refresh down to" in refresh["told"]
    assert_truth(complete, DOMAIN)


def test_a_refresh_of_what_did_not_change_asks_for_one_page(complete: Plant) -> None:
    searches(complete)

    refresh = fetch(complete)

    assert (searches(complete), refresh["kind"]) == (1, "refresh")
    assert complete.one("SELECT unseen FROM fetches ORDER BY id LIMIT 1") == 0


def test_a_page_out_of_order_turns_a_refresh_into_a_full_walk(complete: Plant) -> None:
    show_again(complete, 250)
    complete.behave(fault="reversed_page", for_calls=1)

    walked = fetch(complete)
    after = fetch(complete)

    assert (walked["kind"], walked["in_order"], walked["pages"]) == ("full", False, WALK)
    assert (walked["found"], walked["warnings"] > 0) == (ADS, True)
    assert "broke its order" in walked["told"]
    assert (after["kind"], after["in_order"]) == ("full", True)
    assert_truth(complete, DOMAIN)


def test_an_empty_answer_is_flagged_and_blanks_nothing(complete: Plant) -> None:
    complete.behave(fault="empty_object", domain=DOMAIN)

    empty = fetch(complete)
    page = complete.visitor().get(f"/domains/{DOMAIN}")

    assert (empty["state"], empty["shrunk"], empty["found"]) == ("done", True, 0)
    assert empty["unseen"] is None
    assert "Next to nothing was found" in empty["told"]
    text = page.get_text(" ", strip=True)
    assert "The archive showed next to nothing" in text
    assert "950" in text
    assert_truth(complete, DOMAIN)

    complete.behave()
    whole = fetch(complete)
    assert (whole["kind"], whole["found"], whole["unseen"]) == ("full", ADS, 0)


def test_a_full_walk_comes_when_the_last_one_is_old_and_when_asked_for(complete: Plant) -> None:
    young = fetch(complete)
    asked = fetch(complete, "--full")
    complete.query("UPDATE domains SET walked_at = walked_at - interval '31 days' RETURNING domain")
    old = fetch(complete)

    assert [each["kind"] for each in (young, asked, old)] == ["refresh", "full", "full"]
    assert [each["pages"] for each in (asked, old)] == [WALK + TOP_UP] * 2
    assert (old["found"], old["unseen"]) == (ADS, 0)


def test_what_is_shown_during_a_walk_is_there_in_the_end(plant: Plant) -> None:
    """Every field as the archive has it, when the archive rests before the last look."""
    plant.behave(churn_per_page=15, churn_pages=WALK + TOP_UP)
    plant.start_worker()

    walked = fetch(plant)

    assert (walked["found"], walked["kind"]) == (ADS, "full")
    top_ups = plant.query("SELECT pages FROM jobs WHERE kind = 'top up' ORDER BY id")
    assert [row["pages"] for row in top_ups] == [2, 1]
    assert_truth(plant, DOMAIN)


def test_under_churn_without_end_every_ad_is_there_walk_after_walk(plant: Plant) -> None:
    plant.settings["PPCFETCH_OVERLAP_HOURS"] = "0"
    plant.behave(churn_per_page=20)
    plant.start_worker()

    for number, kind in zip(count(1), ["full", "refresh", "refresh"], strict=False):
        walked = fetch(plant)
        assert walked["kind"] == kind, number
        assert plant.stored(DOMAIN).keys() == plant.truth(DOMAIN).keys(), number
