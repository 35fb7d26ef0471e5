"""Asking for a fetch and stopping it: who may, how, and that nothing else ever does."""

import pytest

from ppcfetch.errors import Refused
from ppcfetch.model.account import User
from ppcfetch.model.fetch import FetchReason, FetchState
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
    [(ADA, 303, [], [(41, ADA.id)]), (OPERATOR, 303, [41], []), (BOB, 403, [], [])],
)
def test_a_fetch_is_left_by_who_asked_and_stopped_by_operators(
    user: User, status: int, cancelled: list[int], left: list[tuple[int, int]]
) -> None:
    site = site_with(FetchState.ACTIVE)

    answer = send(site.signed_in(user), f"{ADDRESS}/cancel", "/account", fetch="41")

    assert (answer.status_code, site.cancelled, site.left) == (status, cancelled, left)


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

    answer = send(site.signed_in(), f"{ADDRESS}/cancel", "/account", fetch=fetch)

    assert (answer.status_code, site.cancelled) == (status, [])


def test_a_fetch_cannot_be_stopped_through_another_domain() -> None:
    site = site_with(FetchState.ACTIVE)

    answer = send(site.signed_in(), "/domains/other.example/cancel", "/account", fetch="41")

    assert (answer.status_code, site.cancelled) == (404, [])
