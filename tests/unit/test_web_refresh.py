"""Asking for a fetch and stopping it: who may, how, and that nothing else ever does."""

import pytest

from ppcfetch.errors import Refused
from ppcfetch.model.account import User
from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.following import Company, Leaving
from tests.site import ADA, BOB, DOMAIN, OPERATOR, FakeSite, a_fetch, a_page, send

ADDRESS = "/domains/bluebird-outdoor.example"


def site_with(state: FetchState) -> FakeSite:
    site = FakeSite()
    site.catalogue.hold(a_page(a_fetch(state)))
    return site


def test_the_form_asks_in_the_name_of_who_is_signed_in_and_returns_to_the_page() -> None:
    site = FakeSite()

    answer = send(site.signed_in(), f"{ADDRESS}/refresh", ADDRESS)

    assert (answer.status_code, answer.headers["Location"]) == (303, ADDRESS)
    (request,) = site.requests
    assert (request.domain, request.asked_by) == (DOMAIN, ADA.id)
    assert (request.reason, request.force) == (FetchReason.PERSON, False)
    assert (request.window, request.limit) == (site.config.stale_window, 20)


def test_an_operator_may_refresh_what_is_fresh() -> None:
    site = FakeSite()

    send(site.signed_in(OPERATOR), f"{ADDRESS}/refresh", ADDRESS)

    assert site.requests[0].force


def test_a_refusal_says_why_and_leads_back() -> None:
    site = FakeSite(refusal=Refused("This domain was checked a moment ago."))

    answer = send(site.signed_in(), f"{ADDRESS}/refresh", ADDRESS)

    assert answer.status_code == 409
    assert "This domain was checked a moment ago." in answer.text
    assert f'href="{ADDRESS}">Back to the page' in answer.text


def test_a_visitor_cannot_ask_even_with_a_token() -> None:
    site = FakeSite()

    answer = send(site.visitor(), f"{ADDRESS}/refresh", "/login")

    assert answer.status_code == 403
    assert not site.requests


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
def test_only_a_post_asks(method: str) -> None:
    site = FakeSite()

    answer = site.signed_in().open(f"{ADDRESS}/refresh", method=method)

    assert answer.status_code == 405
    assert not site.requests


@pytest.mark.parametrize(
    ("user", "status", "cancelled", "left"),
    [
        (ADA, 303, [], [(41, ADA.id)]),
        (OPERATOR, 303, [41], []),
        (BOB, 403, [], [(41, BOB.id)]),
    ],
)
def test_a_fetch_is_left_by_who_waits_for_it_and_stopped_by_operators(
    user: User, status: int, cancelled: list[int], left: list[tuple[int, int]]
) -> None:
    site = site_with(FetchState.ACTIVE)
    site.following.answers[ADA.id] = Leaving.STOPPED

    answer = send(site.signed_in(user), f"{ADDRESS}/cancel", "/account", fetch="41")

    assert (answer.status_code, site.cancelled, site.following.left) == (status, cancelled, left)


LEFT = "You left this fetch; it goes on without you."


@pytest.mark.parametrize(
    ("leaving", "ends", "is_said"),
    [
        (Leaving.LEFT, False, True),
        (Leaving.LEFT, True, False),
        (Leaving.STOPPED, True, False),
    ],
)
def test_the_page_says_that_the_fetch_was_left_while_it_goes_on(
    leaving: Leaving, *, ends: bool, is_said: bool
) -> None:
    site = site_with(FetchState.ACTIVE)
    site.following.answers[ADA.id] = leaving
    browser = site.signed_in()

    answer = send(browser, f"{ADDRESS}/cancel", "/account", fetch="41")
    if ends:
        site.catalogue.hold(a_page(a_fetch(FetchState.CANCELLED)))

    assert (LEFT in browser.get(answer.headers["Location"]).text) is is_said
    assert LEFT not in browser.get(ADDRESS).text


@pytest.mark.parametrize(("fields", "status"), [({"join": "yes"}, 303), ({}, 409)])
def test_who_wants_to_join_what_has_just_ended_is_shown_how(
    fields: dict[str, str], status: int
) -> None:
    site = site_with(FetchState.ACTIVE)
    site.refusal = Refused("It is fresh.")

    answer = send(site.signed_in(BOB), f"{ADDRESS}/refresh", "/account", **fields)

    assert answer.status_code == status


@pytest.mark.parametrize(
    ("user", "company", "label"),
    [
        (ADA, Company(follows=True), "Stop and keep"),
        (ADA, Company(follows=True, goes_on=True), "Leave"),
        (BOB, Company(), "Join"),
        (OPERATOR, Company(follows=True, goes_on=True), "Stop and keep"),
    ],
)
def test_the_button_says_what_pressing_it_will_do(user: User, company: Company, label: str) -> None:
    site = site_with(FetchState.ACTIVE)
    site.following.companies[user.id] = company

    page = site.signed_in(user).get(ADDRESS).text

    assert ("/cancel" in page) is (label != "Join")
    assert f'<button id="bar-button">{label}</button>' in page


def test_a_visitor_is_offered_nothing_to_do_about_a_fetch_under_way() -> None:
    page = site_with(FetchState.ACTIVE).app.test_client().get(ADDRESS).text

    assert 'id="bar-button"' not in page


@pytest.mark.parametrize(
    ("state", "fetch", "status"),
    [
        (FetchState.DONE, "41", 409),
        (FetchState.ACTIVE, "40", 404),
        (FetchState.ACTIVE, "-1", 404),
        (FetchState.ACTIVE, "9" * 30, 404),
        (FetchState.ACTIVE, "", 404),
    ],
)
def test_what_is_not_under_way_cannot_be_stopped(
    state: FetchState, fetch: str, status: int
) -> None:
    site = site_with(state)
    site.following.answers[ADA.id] = Leaving.OVER

    answer = send(site.signed_in(), f"{ADDRESS}/cancel", "/account", fetch=fetch)

    assert (answer.status_code, site.cancelled) == (status, [])


def test_a_fetch_cannot_be_stopped_through_another_domain() -> None:
    site = site_with(FetchState.ACTIVE)

    answer = send(site.signed_in(), "/domains/other.example/cancel", "/account", fetch="41")

    assert (answer.status_code, site.cancelled) == (404, [])
