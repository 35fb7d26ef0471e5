"""Watching a domain on the site: by forms, for oneself, and listed on the account's page."""

from dataclasses import replace
from datetime import timedelta

import pytest

from ppcfetch.model.domain import DomainName
from ppcfetch.model.watch import WatchedDomain
from tests.site import ADA, BOB, DOMAIN, NOW, SITE, FakeSite, a_fetch, a_page, send

ADDRESS = f"/domains/{DOMAIN}"


def site_with_page() -> FakeSite:
    site = FakeSite()
    site.catalogue.hold(a_page(a_fetch()))
    return site


def test_a_person_watches_a_domain_and_unwatches_it_on_its_page() -> None:
    site = site_with_page()
    browser = site.signed_in()
    before = browser.get(ADDRESS).text

    watched = send(browser, f"{ADDRESS}/watch", ADDRESS)
    after = browser.get(ADDRESS).text
    has = site.watches.has(ADA.id, DOMAIN)
    unwatched = send(browser, f"{ADDRESS}/unwatch", ADDRESS)

    assert ('<button id="watch">Watch<' in before, ">Unwatch<" in after, has) == (True,) * 3
    assert (watched.status_code, watched.headers["Location"]) == (303, ADDRESS)
    assert (unwatched.status_code, site.watches.has(ADA.id, DOMAIN)) == (303, False)


@pytest.mark.parametrize(
    ("every", "words"),
    [
        (None, "Nothing reads them by itself: a watched domain is read again when somebody"),
        (timedelta(hours=72), "by themselves when the last check is older than 3 days."),
    ],
)
def test_the_account_says_whether_watched_domains_are_read_by_themselves(
    every: timedelta | None, words: str
) -> None:
    site = FakeSite(replace(SITE, schedule_every=every))

    page = site.signed_in().get("/account").text

    assert words in page
    assert ("Nothing reads them" in page) is (every is None)


def test_nobody_sees_what_another_watches() -> None:
    site = site_with_page()
    site.watches.add(ADA.id, DOMAIN)

    other = site.signed_in(BOB)

    assert ">Unwatch<" not in other.get(ADDRESS).text
    assert DOMAIN.name not in other.get("/account").text
    assert 'id="watch"' not in site.visitor().get(ADDRESS).text


def test_the_account_lists_watched_domains_and_takes_them_off() -> None:
    site = site_with_page()
    strange = DomainName("xn--bcher-kva.example")
    site.watches.add(ADA.id, strange)
    site.watches.lists[ADA.id][DOMAIN.name] = WatchedDomain(DOMAIN, NOW, 231)
    browser = site.signed_in()
    page = browser.get("/account").text

    answer = send(browser, f"/domains/{strange}/unwatch", "/account", next="/account")

    assert f'href="{ADDRESS}"' in page
    assert "bücher.example" in page
    assert "231" in page
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account")
    assert "bücher.example" not in browser.get("/account").text


def test_a_full_list_says_so_and_leads_back() -> None:
    site = site_with_page()
    site.watches.most = 0

    answer = send(site.signed_in(), f"{ADDRESS}/watch", ADDRESS)

    assert answer.status_code == 409
    assert "that is the most" in answer.text
    assert f'href="{ADDRESS}">Back to the page' in answer.text


@pytest.mark.parametrize("verb", ["watch", "unwatch"])
def test_watching_needs_a_log_in_a_token_and_a_post(verb: str) -> None:
    site = site_with_page()
    browser = site.signed_in()

    visitor = send(site.visitor(), f"{ADDRESS}/{verb}", "/login")
    without_token = browser.post(f"{ADDRESS}/{verb}")
    read = browser.get(f"{ADDRESS}/{verb}")

    assert (visitor.status_code, without_token.status_code, read.status_code) == (403, 400, 405)
    assert site.watches.lists == {}


def test_a_form_cannot_send_the_browser_elsewhere() -> None:
    site = site_with_page()

    answer = send(site.signed_in(), f"{ADDRESS}/watch", ADDRESS, next="https://evil.example/")

    assert answer.headers["Location"] == ADDRESS


def test_what_is_no_domain_cannot_be_watched() -> None:
    site = site_with_page()

    answer = send(site.signed_in(), "/domains/10.0.0.1/watch", "/account")

    assert 400 <= answer.status_code < 500
    assert site.watches.lists == {}
