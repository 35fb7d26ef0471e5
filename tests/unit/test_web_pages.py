"""The other pages: start, search, advertiser, ad, health, errors and the log of requests."""

import pytest
import structlog
from structlog.testing import capture_logs

from ppcfetch.model.ad import Ad, AdFormat, Preview, PreviewKind
from ppcfetch.model.domain import DomainName
from ppcfetch.model.page import AdPage, AdvertiserPage, AdvertiserShare, DomainShare, HeldAd, Hits
from tests.site import DOMAIN, NOW, FakeSite, a_fetch, a_page
from web.services import Health

ADVERTISER = "AR01234567890123456001"
CREATIVE = "CR01234567890123456001"


def test_the_start_page_offers_a_form_examples_and_what_is_held() -> None:
    page = FakeSite().visitor().get("/").text

    assert 'action="/domains"' in page
    assert 'href="/domains/bluebird-outdoor.example"' in page
    assert "2,350" in page
    assert page.count('role="search"') == 1


def test_the_search_goes_to_a_whole_domain_at_once() -> None:
    answer = FakeSite().visitor().get("/search?q=Shop.Bluebird-Outdoor.example")

    assert answer.status_code == 303
    assert answer.headers["Location"] == "/domains/bluebird-outdoor.example"


def test_the_search_shows_domains_and_advertisers() -> None:
    site = FakeSite()
    share = AdvertiserShare(ADVERTISER, "Blue & Bird", 12, None, None)
    site.catalogue.hits = Hits((DomainShare(DOMAIN, 231, None, None),), (share,))

    page = site.visitor().get("/search?q=blue").text

    assert 'href="/domains/bluebird-outdoor.example">bluebird-outdoor.example</a>' in page
    assert "<bdi>Blue &amp; Bird</bdi>" in page


@pytest.mark.parametrize("words", ["", "b", "\u202e", "<script>alert(1)</script>", "x" * 5_000])
def test_a_search_that_finds_nothing_says_what_to_do(words: str) -> None:
    answer = FakeSite().visitor().get("/search", query_string={"q": words})

    assert answer.status_code == 200
    assert 'class="empty' in answer.text
    assert "<script>alert" not in answer.text


def test_the_page_of_an_advertiser_lists_every_domain_that_we_know_for_it() -> None:
    site = FakeSite()
    other = DomainName("xn--bcher-kva.example")
    shares = (DomainShare(DOMAIN, 148, NOW, NOW), DomainShare(other, 17, None, None))
    site.catalogue.advertisers[ADVERTISER] = AdvertiserPage(ADVERTISER, "Bluebird", 165, 2, shares)

    page = site.visitor().get(f"/advertisers/{ADVERTISER}").text

    assert page.count(">show ads</a>") == 2
    assert "bücher.example" in page
    assert f"/domains/bluebird-outdoor.example?advertiser={ADVERTISER}#ads" in page
    assert f"https://archive.example/advertiser/{ADVERTISER}?region=anywhere" in page


def test_the_page_of_an_ad_says_which_fetch_saw_it_and_loads_nothing() -> None:
    site = FakeSite()
    preview = Preview(PreviewKind.IMAGE, "https://pictures.example/a.png", 300, 250)
    ad = Ad(ADVERTISER, CREATIVE, None, AdFormat.IMAGE, NOW, None, None, preview)
    site.catalogue.ad_pages[ADVERTISER, CREATIVE] = AdPage((HeldAd(DOMAIN, ad, 40, 41, None),))

    page = site.visitor().get(f"/ads/{ADVERTISER}/{CREATIVE}").text

    assert f'<dd><a href="/advertisers/{ADVERTISER}"><bdi>name unknown</bdi></a>' in page
    assert "300 × 250 pixels" in page
    assert "/domains/bluebird-outdoor.example/fetches/40" in page
    assert "the archive does not say" in page
    assert "pictures.example" not in page


@pytest.mark.parametrize(
    "path",
    [
        "/advertisers/AR9",
        "/ads/AR9/CR9",
        "/advertisers/" + "A" * 300,
        "/ads/AR%00/CR9",
        "/domains/bluebird-outdoor.example/fetches/-1",
        "/domains/bluebird-outdoor.example/fetches/x",
    ],
)
def test_what_is_not_there_is_a_404_in_plain_words(path: str) -> None:
    answer = FakeSite().visitor().get(path)

    assert answer.status_code == 404
    assert "There is no page at this address" in answer.text


@pytest.mark.parametrize(
    ("health", "status", "word"),
    [
        (Health(database=True, schema=True, stream=True), 200, "ok"),
        (Health(database=True, schema=True, stream=False), 200, "degraded"),
        (Health(database=True, schema=False, stream=True), 503, "unavailable"),
        (Health(database=False, schema=False, stream=False), 503, "unavailable"),
    ],
)
def test_the_site_is_ready_as_long_as_pages_can_be_read(
    health: Health, status: int, word: str
) -> None:
    answer = FakeSite(health=health).visitor().get("/readyz")

    assert (answer.status_code, answer.json["status"] if answer.json else None) == (status, word)
    assert answer.headers["Cache-Control"] == "no-store"


def test_the_process_lives_whatever_is_away() -> None:
    site = FakeSite(health=Health(database=False, schema=False, stream=False))

    assert site.visitor().get("/livez").json == {"status": "ok"}


def test_each_answer_is_one_event_that_names_no_domain_and_no_visitor() -> None:
    site = FakeSite()
    site.catalogue.hold(a_page(a_fetch()))
    structlog.reset_defaults()

    with capture_logs() as events:
        answer = site.visitor().get("/domains/bluebird-outdoor.example?format=text")

    (event,) = events
    assert event["event"] == "http.request"
    assert (event["method"], event["route"], event["status"]) == ("GET", "/domains/<domain>", 200)
    assert event["request_id"] == answer.headers["X-Request-ID"]
    assert "bluebird" not in str(event)
    assert "127.0.0.1" not in str(event)


def test_health_checks_that_go_well_fill_no_log() -> None:
    site = FakeSite()

    with capture_logs() as events:
        site.visitor().get("/livez")
        site.visitor().get("/readyz")

    assert not events


def test_robots_are_asked_to_leave_out_forms_searches_and_filters() -> None:
    text = FakeSite().visitor().get("/robots.txt").text

    for path in ("/search", "/account", "/*?", "/*/progress"):
        assert f"Disallow: {path}\n" in text


def test_the_colours_that_were_chosen_come_with_the_page() -> None:
    browser = FakeSite().visitor()
    browser.set_cookie("theme", "dark")
    assert '<html lang="en" data-theme="dark">' in browser.get("/").text

    browser.set_cookie("theme", '"><script>')
    assert '<html lang="en">' in browser.get("/").text
