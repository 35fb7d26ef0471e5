"""Leaving, stopping, importing and watching with real processes on real servers."""

from bs4 import BeautifulSoup

from tests.e2e.plant import Plant, assert_truth
from tests.e2e.visitor import PASSWORD, Visitor
from tests.waiting import wait_until

DOMAIN = "ads-2350.example"
LISTED = ("ads-3.example", "ads-120.example", "tiny-teapot.example")


def said(answer: str) -> str:
    """Give the text of a page."""
    return BeautifulSoup(answer, "lxml").get_text(" ", strip=True)


def searches(plant: Plant) -> int:
    """Give how many pages were asked of the archive."""
    return int(plant.requests()["by_call"]["SearchCreatives"])


def test_who_leaves_does_not_stop_it_for_the_other_and_the_last_one_does(plant: Plant) -> None:
    """Stopping takes effect within a page: the one in hand is the last that is asked for."""
    ann, bob = plant.visitor(), plant.visitor("bob@mail.example")
    plant.behave(latency_ms=150)
    ann.refresh(DOMAIN)
    bob.refresh(DOMAIN)
    plant.start_worker()
    plant.wait_for_pages(DOMAIN, 2)

    left = said(ann.cancel(DOMAIN).text)
    seen = plant.pages(DOMAIN)
    plant.wait_for_pages(DOMAIN, seen + 2)
    stopped = said(bob.cancel(DOMAIN).text)
    fetch = plant.wait_for_end(DOMAIN, "cancelled")

    assert "You left this fetch; it goes on without you." in left
    assert "Stopped on request" in stopped
    assert fetch["found"] == len(plant.stored(DOMAIN)) >= 400
    plant.behave(latency_ms=0)
    bob.refresh("ads-100.example")
    plant.wait_for_end("ads-100.example")
    assert plant.pages(DOMAIN) == fetch["pages"]
    first_page_of_the_other = 1
    assert searches(plant) <= fetch["pages"] + 1 + first_page_of_the_other


def test_what_a_command_began_is_left_by_people_and_stopped_by_operators(plant: Plant) -> None:
    """Nobody who joined can end it; an operator ends it on its page."""
    plant.settings["PPCFETCH_USER_PASSWORD"] = PASSWORD
    plant.run("fetch", DOMAIN)
    ann = plant.visitor()
    code, _ = plant.run("user", "add", "boss@mail.example", "--operator")
    boss = Visitor(plant.site)
    plant.visitors.append(boss)
    boss.log_in("boss@mail.example", PASSWORD)

    answer = ann.refresh(DOMAIN)
    left = said(ann.cancel(DOMAIN).text)
    state = plant.one("SELECT state FROM fetches")
    stopped = said(boss.cancel(DOMAIN).text)

    assert (code, answer.is_success, state) == (0, True, "active")
    assert "You left this fetch" in left
    assert "Stopped on request" in stopped
    assert plant.one("SELECT state FROM fetches") == "cancelled"


def test_an_imported_list_is_fetched_and_importing_it_again_finds_it_fresh(plant: Plant) -> None:
    """Every field of every domain, in both directions."""
    plant.start_worker("bulk")
    listed = plant.folder / "list.txt"
    listed.write_text("\n".join((*LISTED, "no domain")), encoding="utf-8")

    plant.run("import", listed.name)
    for domain in LISTED:
        plant.wait_for_end(domain)
    _, again = plant.run("import", listed.name, "--json")

    for domain in LISTED:
        assert_truth(plant, domain)
    assert '"fresh": 3' in again
    assert plant.one("SELECT count(*) FROM fetches WHERE reason = 'import'") == len(LISTED)


def test_a_watched_domain_is_read_by_schedule(plant: Plant) -> None:
    """A form puts it on the list; from then on nobody has to open its page."""
    ann = plant.visitor()
    ann.watch(LISTED[0])
    plant.start_worker("bulk", PPCFETCH_SCHEDULE_HOURS="0.0005")

    wait_until(
        lambda: plant.one("SELECT count(*) >= 2 FROM fetches WHERE state = 'done'"),
        describe="it was read again by itself",
        timeout=60,
    )

    assert plant.one("SELECT count(*) FROM fetches WHERE reason <> 'schedule'") == 0
    assert LISTED[0] in said(ann.client.get("/account").text)
    assert_truth(plant, LISTED[0])
