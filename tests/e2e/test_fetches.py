"""Fetches with real processes on real servers: the archive's truth ends in the database."""

import signal

from tests.e2e.plant import LEASE_SECONDS, Plant, assert_truth
from tests.waiting import wait_until

DOMAIN = "ads-2350.example"
PAGES = 24
TOP_UP = 1
"""Behind a walk of several pages the first one is read again, by a job of its own."""


def test_a_click_on_a_stale_page_ends_in_the_whole_truth(plant: Plant) -> None:
    """Through site, stream, worker and archive; every field, in both directions."""
    visitor = plant.visitor()
    before = visitor.client.get(f"/domains/{DOMAIN}")
    rows_before = plant.one("SELECT count(*) FROM domains")
    plant.start_worker()

    visitor.refresh(DOMAIN)
    fetch = plant.wait_for_end(DOMAIN)

    assert (before.status_code, rows_before) == (404, 0)
    assert (fetch["pages"], fetch["found"], fetch["new"]) == (PAGES + TOP_UP, 2350, 2350)
    assert_truth(plant, DOMAIN)
    page = visitor.get(f"/domains/{DOMAIN}").get_text(" ", strip=True)
    assert "2,350" in page
    wait_until(lambda: plant.messages() == 0, describe="the stream is empty")


def test_two_people_on_one_page_join_one_fetch(plant: Plant) -> None:
    """The second click makes neither a fetch nor a message."""
    ann = plant.visitor()
    bob = plant.visitor("bob@mail.example")
    opened = bob.get(f"/domains/{DOMAIN}")

    ann.refresh(DOMAIN)
    answer = bob.refresh(DOMAIN, opened)

    assert answer.is_success
    assert plant.one("SELECT count(*) FROM fetches") == 1
    assert plant.messages() == 1


def test_kill_9_in_the_middle_repeats_at_most_one_page(plant: Plant) -> None:
    """Another worker goes on within two leases, and nothing is lost or doubled."""
    visitor = plant.visitor()
    plant.behave(latency_ms=80)
    first, second = plant.start_worker(), plant.start_worker()
    visitor.refresh(DOMAIN)
    holder, other = plant.holder_and_other(first, second)
    plant.wait_for_pages(DOMAIN, 3)

    holder.kill()
    at_kill = plant.pages(DOMAIN)
    wait_until(
        lambda: plant.pages(DOMAIN) > at_kill,
        describe="the other worker goes on",
        timeout=2 * LEASE_SECONDS + 1,
    )
    fetch = plant.wait_for_end(DOMAIN)

    assert len(other.events("lease.taken")) == 1 + TOP_UP
    assert fetch["pages"] == PAGES + TOP_UP
    assert plant.requests()["by_call"]["SearchCreatives"] <= PAGES + TOP_UP + 1
    assert_truth(plant, DOMAIN)


def test_sigterm_hands_back_and_another_worker_goes_on_at_once(plant: Plant) -> None:
    """No lease has to lapse, no start is counted, and the worker exits with 0."""
    visitor = plant.visitor()
    plant.behave(latency_ms=80)
    plant.settings["PPCFETCH_LEASE_SECONDS"] = "60"
    first, second = plant.start_worker(), plant.start_worker()
    visitor.refresh(DOMAIN)
    holder, other = plant.holder_and_other(first, second)
    plant.wait_for_pages(DOMAIN, 3)

    holder.signal(signal.SIGTERM)
    code = holder.wait()
    fetch = plant.wait_for_end(DOMAIN)

    assert code == 0
    assert len(holder.events("job.handed_back")) == 1
    assert len(other.events("lease.taken")) == 1 + TOP_UP
    assert plant.requests()["by_call"]["SearchCreatives"] == PAGES + TOP_UP == fetch["pages"]
    assert plant.one("SELECT max(starts) FROM jobs") == 0
    assert_truth(plant, DOMAIN)


def test_a_second_sigterm_ends_a_worker_at_once_and_loses_nothing(plant: Plant) -> None:
    """The starts were given back before, so even that is not held against the job."""
    visitor = plant.visitor()
    plant.behave(latency_ms=20_000)
    worker = plant.start_worker()
    visitor.refresh(DOMAIN)
    wait_until(lambda: worker.events("lease.taken"), describe="the job is leased")

    worker.signal(signal.SIGTERM)
    wait_until(
        lambda: plant.one("SELECT start_given_back FROM jobs"), describe="the start is given back"
    )
    worker.signal(signal.SIGTERM)

    assert worker.wait(5) != 0
    plant.behave(latency_ms=0)
    plant.start_worker()
    plant.wait_for_end(DOMAIN)
    assert_truth(plant, DOMAIN)


def test_stopping_a_fetch_keeps_what_was_read(plant: Plant) -> None:
    """It takes effect within a page, and the worker is free for others."""
    visitor = plant.visitor()
    plant.behave(latency_ms=80)
    plant.start_worker()
    visitor.refresh(DOMAIN)
    plant.wait_for_pages(DOMAIN, 3)

    visitor.cancel(DOMAIN)
    fetch = plant.wait_for_end(DOMAIN, "cancelled")

    held = len(plant.stored(DOMAIN))
    assert 300 <= held < 2350
    assert fetch["found"] == held
    plant.behave(latency_ms=0)
    visitor.refresh("ads-100.example")
    plant.wait_for_end("ads-100.example")
    assert len(plant.stored(DOMAIN)) == held


def test_the_command_waits_shows_and_tells_by_its_exit_code(plant: Plant) -> None:
    """0 for a domain that was read to its end, 1 for one that could not be read."""
    plant.start_worker()

    code, text = plant.run("fetch", "ads-101.example", "--wait")
    plant.behave(fault="bad_request_400", domain="ads-102.example")
    failed, why = plant.run("fetch", "ads-102.example", "--wait", "--json")

    assert (code, failed) == (0, 1)
    assert "a full walk, topped up once; 3 pages, 101 ads, 101 new" in text
    assert '"state": "failed"' in why
