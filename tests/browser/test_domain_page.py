"""A person with a browser: signs in, opens a stale page, and watches it fill."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.e2e.plant import Plant
from tests.e2e.visitor import PASSWORD
from tests.waiting import wait_until

DOMAIN = "bluebird-outdoor.example"
ADS = 1200
PATIENCE_MS = 60_000


def sign_up(page: Page, email: str = "ann@mail.example") -> None:
    """Register through the form."""
    page.goto("/register")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def findings(page: Page) -> list[str]:
    """Give what axe finds wrong on the page."""
    violations = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in violations]


def test_a_stale_page_asks_by_itself_and_fills_while_it_is_watched(
    page: Page, plant: Plant
) -> None:
    """Nothing is clicked but the look-up, and closing the page changes nothing."""
    plant.behave(latency_ms=250)
    plant.start_worker()
    sign_up(page)

    page.get_by_role("searchbox").first.fill(f"https://www.{DOMAIN}/shop?x=1")
    page.get_by_role("button", name="Look up").first.click()
    page.wait_for_url(f"**/domains/{DOMAIN}")
    expect(page.get_by_role("heading", level=1)).to_have_text(DOMAIN)
    bar = page.get_by_role("region", name="Freshness")
    expect(bar).to_contain_text(re.compile(r"Page \d+ of 10 to 20"), timeout=PATIENCE_MS)
    expect(page.get_by_role("heading", name="Who pays")).to_be_visible(timeout=PATIENCE_MS)
    expect(bar).to_contain_text(re.compile(r"Done in"), timeout=PATIENCE_MS)
    expect(page.locator(".hist li")).to_contain_text("1,200 ads")
    page.reload()

    expect(page.get_by_text("1,200", exact=True).first).to_be_visible()
    for heading in ("Activity", "Who pays", "Ads", "History"):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    assert page.get_by_role("table", include_hidden=False).get_by_role("row").count() > 3
    assert page.locator("ul.ads > li").count() > 10
    assert plant.one("SELECT count(*) FROM fetches") == 1
    assert findings(page) == []


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 390), ("dark", 390)]
)
def test_the_filled_page_is_accessible_in_every_look(
    browser: Browser, plant: Plant, scheme: str, width: int
) -> None:
    """Light, dark, and on a phone: no finding, and nothing wider than the screen."""
    plant.start_worker()
    code, _ = plant.run("fetch", "tiny-teapot.example", "--wait")
    context = browser.new_context(
        base_url=plant.site,
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 900},
    )
    page = context.new_page()

    page.goto("/domains/tiny-teapot.example")
    expect(page.get_by_role("heading", name="Who pays")).to_be_visible()
    rows = page.get_by_role("region", name="Table of advertisers").get_by_role("row").count()
    found = findings(page)
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    context.close()

    assert (code, rows) == (0, 3)
    assert found == []
    assert overflow <= 0


def test_everything_but_the_live_bar_works_without_scripts(browser: Browser, plant: Plant) -> None:
    """Sign in, ask by the button, see progress by reload, filter, sort and page."""
    plant.start_worker()
    context = browser.new_context(base_url=plant.site, java_script_enabled=False)
    page = context.new_page()
    sign_up(page)

    page.goto(f"/domains/{DOMAIN}")
    page.locator("#bar-button").click()
    wait_until(
        lambda: plant.one("SELECT count(*) FROM fetches WHERE state = 'done'"),
        describe="the fetch is done",
        timeout=60,
    )
    page.goto(f"/domains/{DOMAIN}")
    first = page.locator("ul.ads > li").first.inner_text()
    page.get_by_role("link", name="Older ads").click()
    second = page.locator("ul.ads > li").first.inner_text()
    page.get_by_role("link", name=re.compile("^video")).first.click()
    videos = page.locator("ul.ads > li").count()
    context.close()

    assert first != second
    assert videos > 0


def test_a_fetch_is_joined_left_and_stopped_by_its_button(browser: Browser, plant: Plant) -> None:
    """What the button says follows what the others do, without a reload."""
    plant.behave(latency_ms=600)
    plant.start_worker()
    windows = [browser.new_context(base_url=plant.site) for _ in range(2)]
    ann, bob = (window.new_page() for window in windows)
    sign_up(ann)
    sign_up(bob, "bob@mail.example")
    buttons = [page.locator("#bar-button") for page in (ann, bob)]

    ann.goto("/domains/ads-20000.example")
    expect(buttons[0]).to_have_text("Stop and keep", timeout=PATIENCE_MS)
    bob.goto("/domains/ads-20000.example")
    bob.get_by_role("button", name="Join").click()
    expect(buttons[1]).to_have_text("Leave")
    expect(buttons[0]).to_have_text("Leave", timeout=PATIENCE_MS)
    buttons[0].click()
    expect(ann.locator(".note")).to_have_text("You left this fetch; it goes on without you.")
    expect(buttons[0]).to_have_text("Join")
    found = findings(ann)
    expect(buttons[1]).to_have_text("Stop and keep", timeout=PATIENCE_MS)
    while_followed = plant.one("SELECT state FROM fetches")
    buttons[1].click()
    expect(bob.locator("[data-state=cancelled]")).to_contain_text("read until then were kept")
    expect(ann.locator("[data-state=cancelled]")).to_be_visible(timeout=PATIENCE_MS)
    for window in windows:
        window.close()

    assert (while_followed, plant.one("SELECT state FROM fetches")) == ("active", "cancelled")
    assert plant.one("SELECT found = (SELECT count(*) FROM ads) FROM fetches")
    assert found == []


def test_a_domain_is_watched_and_unwatched_where_one_sees_it(page: Page, plant: Plant) -> None:
    """On its page and on the list of the account, each of which says how it is now."""
    sign_up(page)
    page.goto("/domains/tiny-teapot.example")
    expect(page.locator("[data-state=queued]")).to_be_visible(timeout=PATIENCE_MS)

    page.get_by_role("button", name="Watch", exact=True).click()
    expect(page.get_by_role("button", name="Unwatch")).to_be_visible()
    page.get_by_role("link", name="Account").click()
    listed = page.get_by_role("region", name="Table of watched domains")
    expect(listed).to_contain_text("being read now")
    found = findings(page)
    listed.get_by_role("link", name="tiny-teapot.example").click()
    page.get_by_role("button", name="Unwatch").click()
    page.get_by_role("button", name="Watch", exact=True).click()
    expect(page.get_by_role("button", name="Unwatch")).to_be_visible()
    page.get_by_role("link", name="Account").click()
    page.get_by_role("button", name="Unwatch tiny-teapot.example").click()

    expect(page.get_by_text("None yet")).to_be_visible()
    expect(page).to_have_url(re.compile("/account$"))
    assert plant.one("SELECT count(*) FROM watches") == 0
    assert found == []
