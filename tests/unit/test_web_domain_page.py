"""The domain page: what it shows, at which address, and what it never does."""

from dataclasses import replace
from datetime import timedelta

import pytest

from ppcfetch.model.ad import Ad, AdFormat, Preview, PreviewKind, TotalRange
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchKind, FetchState
from ppcfetch.model.page import AdList, AdQuery, AdSort, AdvertiserShare, HeldAd
from tests.site import DOMAIN, NOW, FakeSite, a_fetch, a_page

ADDRESS = "/domains/bluebird-outdoor.example"
ADVERTISER = "AR01234567890123456001"
RUNNING = a_fetch(FetchState.ACTIVE, id=42, asked_at=NOW - timedelta(seconds=3))


def held(number: int, name: str | None = "Bluebird Outdoor GmbH", first_fetch: int = 40) -> HeldAd:
    preview = Preview(PreviewKind.IMAGE, "https://pictures.example/a.png", 728, 90)
    shown = NOW - timedelta(days=number)
    ad = Ad(ADVERTISER, f"CR{number:020}", name, AdFormat.IMAGE, shown, shown, 12, preview)
    return HeldAd(DOMAIN, ad, first_fetch, 41, None)


def site_with(*ads: HeldAd, **changes: object) -> FakeSite:
    site = FakeSite()
    share = AdvertiserShare(ADVERTISER, "Bluebird Outdoor GmbH", 231, NOW, NOW)
    page = a_page(
        a_fetch(),
        a_fetch(id=40),
        formats={AdFormat.TEXT: 121, AdFormat.IMAGE: 110},
        advertisers=(share,),
        per_day={NOW.date(): 9},
        total=TotalRange(200, 300),
    )
    site.catalogue.hold(replace(page, **changes))  # type: ignore[arg-type]  # real fields
    site.catalogue.lists = AdList(ads, older="older-mark", newer="newer-mark")
    return site


def test_the_history_says_of_which_kind_each_fetch_was_and_what_is_odd() -> None:
    fetches = (
        a_fetch(FetchState.PARTIAL, id=44, parts=17),
        a_fetch(id=43, kind=FetchKind.REFRESH, until=NOW, unseen=None),
        a_fetch(id=42, top_ups=2, shrunk=True),
    )

    page = site_with(fetches=fetches).visitor().get(ADDRESS).text

    for part in (
        '<span class="tag warn">partly</span>',
        "14 new, 3 changed · a full walk, in 17 parts<",
        "14 new, 3 changed · a refresh down to 2026-11-30<",
        "5 not seen · a full walk, topped up twice · next to nothing found<",
    ):
        assert part in page


def test_before_the_first_answer_nothing_is_called_the_last_check() -> None:
    begun = replace(RUNNING, started_at=None, pages=0, found=0, new=0)

    browser = site_with(fetches=(begun,), complete=None, total=None, ads=0).visitor()
    page = browser.get(ADDRESS).text

    assert "New in this check" in page
    assert "0</dd><dd>waiting for the first page</dd>" in page
    assert "<dd>waiting for the first page</dd>" in browser.get(f"{ADDRESS}/fetches/42").text


def test_the_page_shows_numbers_advertisers_ads_and_fetches() -> None:
    site = site_with(held(1, first_fetch=41), held(2))

    page = site.visitor().get(ADDRESS)

    assert page.status_code == 200
    for part in (
        "<h1>bluebird-outdoor.example</h1>",
        'class="big">231</dd><dd>archive says 200–300',
        "<bdi>Bluebird Outdoor GmbH</bdi>",
        "text 121",
        "image 110",
        "728 × 90",
        "9 ads on 2026-11-30",
        "/domains/bluebird-outdoor.example/fetches/40",
        "https://archive.example/advertiser/AR01234567890123456001/creative/",
    ):
        assert part in page.text
    assert page.text.count('class="tag new"') == 1
    assert "pictures.example" not in page.text


@pytest.mark.parametrize(
    ("ads", "advertisers", "words"),
    [
        (0, 0, "who pays for them"),
        (1, 1, "pays for it"),
        (9, 1, "pays for all of them"),
        (9, 2, "pay for them"),
    ],
)
def test_the_advertisers_are_told_with_what_each_pays_for(
    ads: int, advertisers: int, words: str
) -> None:
    page = site_with(ads=ads, advertiser_count=advertisers).visitor().get(ADDRESS).text

    assert f'class="big">{advertisers}</dd><dd>{words}</dd>' in page


def test_another_spelling_is_sent_to_the_one_address_with_its_choices() -> None:
    answer = FakeSite().visitor().get("/domains/WWW.Bluebird-Outdoor.example?format=text")

    assert answer.status_code == 301
    assert answer.headers["Location"] == f"{ADDRESS}?format=text"


def test_a_domain_that_nobody_had_checked_is_a_404_with_the_whole_page() -> None:
    site = FakeSite()

    visitor = site.visitor().get(ADDRESS)
    signed_in = site.signed_in().get(ADDRESS)

    assert (visitor.status_code, signed_in.status_code) == (404, 404)
    assert "Sign in to check" in visitor.text
    assert f'action="{ADDRESS}/refresh" data-ask="bluebird-outdoor.example"' in signed_in.text
    assert "Check now" in signed_in.text


def test_what_is_no_domain_is_a_400_that_says_why() -> None:
    answer = FakeSite().visitor().get("/domains/192.0.2.7")

    assert answer.status_code == 400
    assert "is an IP address, not a domain" in answer.text


@pytest.mark.parametrize(
    ("typed", "leads_to"),
    [
        ("https://shop.bluebird-outdoor.example/tents?x=1", ADDRESS),
        ("Bluebird Outdoor", "/search?q=Bluebird+Outdoor"),
    ],
)
def test_what_is_typed_leads_to_a_domain_or_to_the_search(typed: str, leads_to: str) -> None:
    answer = FakeSite().visitor().get("/domains", query_string={"q": typed})

    assert (answer.status_code, answer.headers["Location"]) == (303, leads_to)


def test_the_unicode_form_comes_first_and_the_key_beside_it() -> None:
    site = FakeSite()

    page = site.visitor().get("/domains/xn--bcher-kva.example").text

    assert "<h1>bücher.example</h1>" in page
    assert '<span class="dim">xn--bcher-kva.example</span>' in page


def test_a_strangers_name_cannot_leave_its_place() -> None:
    name = "\u202e<script>alert(1)</script>\u0007 Gm\u200bbH"

    page = site_with(held(1, name)).visitor().get(ADDRESS).text

    assert "<bdi>&lt;script&gt;alert(1)&lt;/script&gt; GmbH</bdi>" in page
    assert not set(page) & set("\u202e\u0007\u200b")


def test_the_query_string_chooses_what_is_listed_and_nonsense_is_left_out() -> None:
    site = site_with(held(1))
    browser = site.visitor()

    browser.get(f"{ADDRESS}?format=image&advertiser={ADVERTISER}&sort=first_shown&after=m")
    browser.get(f"{ADDRESS}?format=hologram&sort=money")

    assert site.catalogue.queries == [
        AdQuery(DOMAIN, AdFormat.IMAGE, ADVERTISER, AdSort.FIRST_SHOWN, after="m"),
        AdQuery(DOMAIN),
    ]


def test_paging_keeps_the_choice_and_filtered_views_stay_out_of_indexes() -> None:
    page = site_with(held(1)).visitor().get(f"{ADDRESS}?format=image").text

    assert f'href="{ADDRESS}?format=image&amp;after=older-mark#ads"' in page
    assert f'href="{ADDRESS}?format=image&amp;before=newer-mark#ads"' in page
    assert '<meta name="robots" content="noindex">' in page
    assert f'<link rel="canonical" href="{ADDRESS}">' in page


def test_a_running_fetch_makes_the_page_look_again_by_itself() -> None:
    site = site_with(fetches=(RUNNING, a_fetch()))

    page = site.visitor().get(ADDRESS).text

    assert f'hx-get="{ADDRESS}/progress?held=231" hx-trigger="every 1s"' in page
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in page


def test_progress_is_bar_and_numbers_with_the_next_look_and_what_was_found_since() -> None:
    site = site_with(fetches=(RUNNING, a_fetch()), ads=251)

    fragment = site.visitor().get(f"{ADDRESS}/progress?held=231").text

    assert fragment.lstrip().startswith('<div id="progress" hx-get=')
    assert "held=231" in fragment
    assert "Show 20 more found" in fragment
    assert "231 counted below" in fragment
    assert "<html" not in fragment
    assert "Who pays" not in fragment


def test_progress_brings_the_line_of_its_fetch_in_the_history() -> None:
    site = site_with(fetches=(RUNNING, a_fetch()))
    browser = site.visitor()

    line = '<li id="fetch-42"'

    assert f"{line}>" in browser.get(ADDRESS).text
    running = browser.get(f"{ADDRESS}/progress?held=231").text
    assert running.count(f'{line} hx-swap-oob="true">') == 1
    assert "running" in running.partition(line)[2]
    assert '<li id="fetch-41"' not in running


def test_progress_fills_a_page_that_shows_no_ads_yet_and_no_other() -> None:
    site = site_with(fetches=(RUNNING,), ads=0)
    browser = site.visitor()
    before = browser.get(f"{ADDRESS}/progress?held=0")
    site.catalogue.hold(replace(site.catalogue.pages[DOMAIN], ads=231))

    filled = browser.get(f"{ADDRESS}/progress?held=0")
    later = browser.get(f"{ADDRESS}/progress?held=231")

    assert "Who pays" not in before.text
    assert "HX-Retarget" not in before.headers
    assert filled.headers["HX-Retarget"] == filled.headers["HX-Reselect"] == "#main"
    assert filled.text.count("Who pays") == 1
    assert "held=231" in filled.text
    assert "HX-Retarget" not in later.headers


def test_progress_of_an_ended_fetch_looks_no_more() -> None:
    site = site_with()

    fragment = site.visitor().get(f"{ADDRESS}/progress?held=231").text

    assert "hx-get" not in fragment
    assert "hx-trigger" not in fragment


def test_progress_of_a_domain_without_a_row_is_a_404() -> None:
    assert FakeSite().visitor().get(f"{ADDRESS}/progress").status_code == 404


def test_the_page_of_a_fetch_tells_how_it_went() -> None:
    site = site_with()

    page = site.visitor().get(f"{ADDRESS}/fetches/41")
    elsewhere = site.visitor().get("/domains/other.example/fetches/41")
    too_large = site.visitor().get(f"{ADDRESS}/fetches/99999999999999999999")

    assert "It read everything that the archive lists" in page.text
    assert "after 48 s" in page.text
    assert (elsewhere.status_code, too_large.status_code) == (404, 404)


def test_no_domain_is_found_under_the_name_of_another() -> None:
    site = site_with()

    assert site.visitor().get("/domains/other.example").status_code == 404
    assert DomainName("other.example") not in site.catalogue.pages
