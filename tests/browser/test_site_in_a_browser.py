"""What a person sees: readable for everybody, still under the hand, and with scripts off, too."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from ppcfetch.errors import Refused
from ppcfetch.model.ad import Ad, AdFormat, Preview, PreviewKind, TotalRange
from ppcfetch.model.fetch import FetchState
from ppcfetch.model.page import AdList, AdPage, AdvertiserPage, AdvertiserShare, DomainShare, HeldAd
from tests.browser.conftest import Serve
from tests.site import ADA, DOMAIN, NOW, PASSWORD, SITE, FakeSite, a_fetch, a_page
from tests.waiting import wait_until

ADDRESS = "/domains/bluebird-outdoor.example"
OWNER = "AR01234567890123456001"
RUNNING = a_fetch(
    FetchState.ACTIVE,
    id=42,
    asked_at=NOW - timedelta(seconds=4),
    started_at=NOW - timedelta(seconds=4),
    pages=2,
    found=200,
    total=TotalRange(200, 300),
)
LONG_AGO = a_fetch(
    asked_at=NOW - timedelta(days=18, minutes=1), finished_at=NOW - timedelta(days=18)
)
PAGES = [
    "/",
    ADDRESS,
    f"{ADDRESS}?format=image&advertiser={OWNER}",
    f"{ADDRESS}/fetches/41",
    f"{ADDRESS}/fetches/42",
    "/domains/unknown.example",
    f"/advertisers/{OWNER}",
    f"/ads/{OWNER}/CR1",
    "/search?q=blue",
    "/about/data",
    "/login",
    "/register",
    "/nothing/here",
    "/domains?q=192.0.2.1",
]


def a_site(*fetches: object) -> FakeSite:
    site = FakeSite(replace(SITE, invented=True))  # with the notice, which takes room
    name = "Bluebird Outdoor with a Name That Goes On and On GmbH"
    kinds = [AdFormat.TEXT, AdFormat.IMAGE, AdFormat.VIDEO, AdFormat.UNKNOWN]
    preview = Preview(PreviewKind.IMAGE, "https://pictures.example/a.png", 728, 90)
    ads = tuple(
        HeldAd(DOMAIN, Ad(OWNER, f"CR{n}", name, kinds[n % 4], NOW, NOW, n, preview), 41, 41, None)
        for n in range(8)
    )
    page = a_page(
        *(fetches or (RUNNING, LONG_AGO)),  # type: ignore[arg-type]  # fetches all
        advertisers=(AdvertiserShare(OWNER, name, 231, NOW, NOW),),
        formats=dict.fromkeys(kinds, 58),
        per_day={(NOW - timedelta(days=n)).date(): n % 23 for n in range(370)},
        total=TotalRange(200, 300),
    )
    site.catalogue.hold(page)
    site.catalogue.lists = AdList(ads, older="older", newer="newer")
    site.catalogue.ad_pages[OWNER, "CR1"] = AdPage(ads[1:2])
    shares = (DomainShare(DOMAIN, 231, NOW, NOW),)
    site.catalogue.advertisers[OWNER] = AdvertiserPage(OWNER, name, 231, 1, shares)
    return site


@dataclass
class Watched:
    """A window whose complaints and requests are written down."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda said: self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda asked: self._note(asked.url))

    def _note(self, url: str) -> None:
        if not url.startswith("http://localhost:"):
            self.elsewhere.append(url)


def sign_in(context: BrowserContext, site: str) -> Page:
    page = context.new_page()
    page.goto(f"{site}/login")
    page.get_by_label("E-mail address").fill(ADA.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Account")).to_be_visible()
    return page


@pytest.mark.parametrize("look", [("light", 1200), ("dark", 1200), ("light", 390), ("dark", 320)])
@pytest.mark.parametrize("who", ["a visitor", "somebody signed in"])
def test_every_page_can_be_read_by_everybody(
    browser: Browser, serve: Serve, look: tuple[str, int], who: str
) -> None:
    site = serve(a_site())
    scheme, width = look
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 900},
    )
    page = context.new_page() if who == "a visitor" else sign_in(context, site)
    watched = Watched(page)

    for path in [*PAGES, "/account"]:
        page.goto(f"{site}{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        if path == ADDRESS:
            expect(page.locator(".ads > li")).to_have_count(8)
        found = Axe().run(page)
        assert found.violations_count == 0, f"{path}: {found.generate_report()}"
        root = "document.documentElement"
        assert page.evaluate(f"{root}.scrollWidth - {root}.clientWidth") <= 0, path

    assert [text for text in watched.complaints if "status of 40" not in text] == []
    assert watched.elsewhere == []
    context.close()


@pytest.mark.parametrize("width", [1200, 390])
def test_nothing_moves_when_the_bar_changes_and_each_state_is_said_once(
    browser: Browser, serve: Serve, width: int
) -> None:
    made = a_site()
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = sign_in(context, serve(made))
    base = made.catalogue.pages[DOMAIN]
    page.goto(f"{page.url.rstrip('/')}{ADDRESS}")
    four = "document.querySelector('.four').getBoundingClientRect().top"
    before = page.evaluate(four)

    made.catalogue.hold(replace(base, ads=251))
    expect(page.get_by_role("link", name="Show 20 more found")).to_be_visible()
    during = page.evaluate(four)
    said_during = page.locator("#voice").text_content()
    ended = a_fetch(id=42, asked_at=NOW - timedelta(seconds=9), finished_at=NOW)
    made.catalogue.hold(replace(base, ads=251, fetches=(ended, LONG_AGO), complete=ended))
    expect(page.locator("[data-state=done]")).to_be_visible()

    assert (during, page.evaluate(four)) == (before, before)
    assert said_during == ""
    expect(page.locator("#voice")).to_have_text("Done in 9 s, 14 new, 3 changed, 5 not seen")
    assert page.locator("[hx-get]").count() == 0
    expect(page.locator(".hist li").first).not_to_contain_text("running")
    expect(page.locator(".hist li")).to_have_count(2)
    context.close()


def test_a_visitor_with_a_phone_sees_no_room_for_buttons_that_he_does_not_get(
    browser: Browser, serve: Serve
) -> None:
    made = a_site()
    base = made.catalogue.pages[DOMAIN]
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto(f"{serve(made)}{ADDRESS}")
    tops = "['.four', '#activity'].map(one => document.querySelector(one).offsetTop)"
    before = page.evaluate(tops)
    heights = "['.fresh', '.fresh > p', '.fresh > progress']"
    box, words, bar = page.evaluate(
        f"{heights}.map(one => document.querySelector(one).offsetHeight)"
    )

    made.catalogue.hold(replace(base, ads=251))
    expect(page.get_by_role("link", name="Show 20 more found")).to_be_in_viewport()

    assert box - words - bar < 64
    assert page.evaluate(tops) == before
    page.close()


@pytest.mark.parametrize("path", [ADDRESS, f"/advertisers/{OWNER}", f"/ads/{OWNER}/CR1"])
def test_a_table_is_read_on_a_phone_without_pushing_it_aside(
    browser: Browser, serve: Serve, path: str
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 900})
    page = context.new_page()

    page.goto(f"{serve(a_site())}{path}")
    table = page.get_by_role("region", name="Table of")
    hidden = table.evaluate("region => region.scrollWidth - region.clientWidth")
    cells = table.locator("tbody td:visible").all_inner_texts()
    words = table.locator("td a:visible, td time:visible")
    wrapped = words.evaluate_all("all => all.filter(one => one.getClientRects().length > 1).length")

    assert hidden <= 0
    assert wrapped == 0
    assert len(cells) == 3
    context.close()


def test_a_page_without_ads_fills_by_itself_and_then_keeps_still(
    browser: Browser, serve: Serve
) -> None:
    made = a_site(RUNNING)
    full = replace(made.catalogue.pages[DOMAIN], ads=231)
    made.catalogue.hold(replace(full, ads=0, advertisers=(), per_day={}))
    context = browser.new_context()
    page = context.new_page()
    watched = Watched(page)
    page.goto(f"{serve(made)}{ADDRESS}")
    page.get_by_role("searchbox").fill("half a wo")

    made.catalogue.hold(full)
    for name in ("Activity", "Who pays", "Ads", "History"):
        expect(page.get_by_role("heading", name=name, exact=True)).to_have_count(1)
    made.catalogue.hold(replace(full, ads=251))
    expect(page.get_by_role("link", name="Show 20 more found")).to_be_visible()

    expect(page.get_by_text("231 counted below")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_have_value("half a wo")
    expect(page.locator("main")).to_have_count(1)
    assert watched.complaints == []
    context.close()


def test_a_stale_page_asks_once_and_not_again_after_a_refusal(
    browser: Browser, serve: Serve
) -> None:
    made = a_site(LONG_AGO)
    made.refusal = Refused("Not now.")
    context = browser.new_context()
    page = sign_in(context, serve(made))
    address = f"{page.url.rstrip('/')}{ADDRESS}"

    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not now")
    made.refusal = None
    page.goto(address)
    expect(page.get_by_role("button", name="Refresh")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert made.requests == []

    page.get_by_role("button", name="Refresh").click()
    wait_until(lambda: made.requests, describe="the click arrived")
    page.wait_for_load_state("networkidle")
    assert len(made.requests) == 1
    context.close()


def test_a_stale_page_asks_by_itself_for_who_is_signed_in(browser: Browser, serve: Serve) -> None:
    made = a_site(LONG_AGO)
    context = browser.new_context()
    page = sign_in(context, serve(made))

    page.goto(f"{page.url.rstrip('/')}{ADDRESS}")

    wait_until(lambda: made.requests, describe="the page asked")
    page.wait_for_load_state("networkidle")
    assert len(made.requests) == 1
    assert page.url.endswith(ADDRESS)
    context.close()


def test_everything_works_with_scripts_off(browser: Browser, serve: Serve) -> None:
    made = a_site(LONG_AGO)
    context = browser.new_context(java_script_enabled=False)
    page = sign_in(context, serve(made))

    page.goto(f"{page.url.rstrip('/')}{ADDRESS}")
    assert made.requests == []
    page.get_by_role("link", name="image 58").click()
    page.get_by_role("link", name="Older ads").click()
    page.get_by_role("button", name="Refresh").click()
    page.get_by_role("button", name="Sign out").click()

    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    assert [(query.format, query.after) for query in made.catalogue.queries][:3] == [
        (None, None),
        (AdFormat.IMAGE, None),
        (AdFormat.IMAGE, "older"),
    ]
    assert len(made.requests) == 1
    context.close()


def test_the_colours_that_were_chosen_stay(browser: Browser, serve: Serve) -> None:
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    page.goto(serve(a_site()))
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)

    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(paper)
    page.reload()

    assert dark != light
    assert page.evaluate(paper) == dark
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    context.close()
