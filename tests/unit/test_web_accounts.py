"""Signing in and out, registering, changing a password."""

from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from tests.site import ADA, BOB, PASSWORD, SITE, FakeSite, send

NEW = "eleven quiet otters"


def cookie_of(browser: FlaskClient, name: str = "login") -> str | None:
    cookie = browser.get_cookie(name)
    return cookie.value if cookie else None


def test_signing_in_leads_on_and_shows_who_is_there() -> None:
    site = FakeSite()
    browser = site.visitor()

    answer = send(
        browser, "/login", email=" ADA@mail.example ", password=PASSWORD, next="/about/data"
    )

    assert (answer.status_code, answer.headers["Location"]) == (303, "/about/data")
    assert "ada@mail.example" in browser.get("/account").text


def test_a_wrong_password_and_an_unknown_address_get_the_same_answer_after_the_same_work() -> None:
    site = FakeSite()

    wrong = send(site.visitor(), "/login", email=ADA.email, password="not this one")
    work = site.passwords.asked
    unknown = send(site.visitor(), "/login", email="eve@mail.example", password="not this one")

    assert (wrong.status_code, unknown.status_code) == (422, 422)
    assert "do not belong together" in wrong.text
    assert "do not belong together" in unknown.text
    assert (work, site.passwords.asked) == (1, 2)
    assert not site.sessions.owners


def test_a_log_in_is_kept_by_the_hash_of_a_token_that_is_new_each_time() -> None:
    site = FakeSite()
    browser = site.signed_in()
    first = cookie_of(browser)

    send(browser, "/login", email=ADA.email, password=PASSWORD)

    assert cookie_of(browser) != first
    assert len(site.sessions.owners) == 1
    assert all(len(key) == 32 for key in site.sessions.owners)


def test_a_token_that_somebody_planted_is_not_taken_over() -> None:
    site = FakeSite()
    browser = site.visitor()
    planted = "A" * 43
    browser.set_cookie("login", planted)

    send(browser, "/login", email=ADA.email, password=PASSWORD)

    assert cookie_of(browser) != planted


def test_signing_out_ends_the_log_in_where_it_is_kept() -> None:
    site = FakeSite()
    browser = site.signed_in()
    token = cookie_of(browser) or ""

    answer = send(browser, "/logout", "/account")
    browser.set_cookie("login", token)

    assert answer.status_code == 303
    assert browser.get("/account").headers["Location"] == "/login?next=/account"


def test_signing_out_by_an_address_alone_is_not_possible() -> None:
    site = FakeSite()

    assert site.signed_in().get("/logout").status_code == 405
    assert len(site.sessions.owners) == 1


def test_registering_makes_an_account_and_signs_in() -> None:
    site = FakeSite()
    browser = site.visitor()

    answer = send(browser, "/register", email="Eve@Mail.example", password=NEW)

    assert answer.status_code == 303
    assert site.users.accounts["eve@mail.example"].password_hash == f"hashed {NEW}"
    assert "eve@mail.example" in browser.get("/account").text


@pytest.mark.parametrize(
    ("email", "password", "words"),
    [
        ("ada@mail.example", NEW, "No account could be made with these"),
        ("no address", NEW, "That is not an e-mail address"),
        ("eve@mail.example", "short", "too short"),
        (
            "eve.with.a.long.name@mail.example",
            "Eve.with.a.long.name@mail.example",
            "be the address",
        ),
    ],
)
def test_an_account_that_cannot_be_made_says_what_to_change(
    email: str, password: str, words: str
) -> None:
    site = FakeSite()

    answer = send(site.visitor(), "/register", email=email, password=password)

    assert answer.status_code == 422
    assert words in answer.text
    assert not site.sessions.owners


def test_a_new_password_ends_all_other_log_ins_and_renews_this_one() -> None:
    site = FakeSite()
    elsewhere, here = site.signed_in(), site.signed_in()
    bobs = site.signed_in(BOB)
    before = cookie_of(here)

    answer = send(here, "/account/password", "/account", current=PASSWORD, password=NEW)

    assert answer.headers["Location"] == "/account?done=password"
    assert cookie_of(here) != before
    assert here.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 303
    assert bobs.get("/account").status_code == 200
    assert site.users.accounts[ADA.email].password_hash == f"hashed {NEW}"


def test_a_password_is_not_changed_without_the_present_one() -> None:
    site = FakeSite()

    answer = send(site.signed_in(), "/account/password", "/account", current="no", password=NEW)

    assert answer.status_code == 422
    assert "not your present password" in answer.text
    assert site.users.accounts[ADA.email].password_hash == f"hashed {PASSWORD}"


def test_other_log_ins_can_be_ended() -> None:
    site = FakeSite()
    elsewhere, here = site.signed_in(), site.signed_in()

    send(here, "/account/sign-out-others", "/account")

    assert here.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 303


@pytest.mark.parametrize(
    "away",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "https:evil.example",
        "javascript:alert(1)",
        "evil.example",
        "/" + "a" * 5_000,
        "",
    ],
)
def test_after_signing_in_nobody_is_led_away(away: str) -> None:
    answer = send(FakeSite().visitor(), "/login", email=ADA.email, password=PASSWORD, next=away)

    assert answer.headers["Location"] == "/"


def test_tries_at_one_account_are_counted_before_the_slow_hash() -> None:
    site = FakeSite()
    browser = site.visitor()

    answers = [send(browser, "/login", email=ADA.email, password="no") for _ in range(7)]

    assert [answer.status_code for answer in answers] == [422] * 5 + [429] * 2
    assert "Please wait a minute" in answers[-1].text
    assert "Retry-After" in answers[-1].headers
    assert site.passwords.asked == 5


def test_tries_from_one_network_lock_no_owner_out_elsewhere() -> None:
    site = FakeSite()
    for _ in range(7):
        send(site.visitor(), "/login", email=ADA.email, password="no")
    owner = site.visitor()
    owner.environ_base["REMOTE_ADDR"] = "192.0.2.44"

    answer = send(owner, "/login", email=ADA.email, password=PASSWORD)

    assert answer.status_code == 303


def test_a_network_of_the_newer_kind_is_counted_as_one() -> None:
    site = FakeSite()

    statuses = []
    for number in range(6):
        browser = site.visitor()
        browser.environ_base["REMOTE_ADDR"] = f"2001:db8::{number + 1}"
        statuses.append(send(browser, "/login", email=ADA.email, password="no").status_code)

    assert statuses == [422] * 5 + [429]


def test_over_https_cookies_bear_the_prefix_that_keeps_them_to_this_host() -> None:
    site = FakeSite(replace(SITE, https=True))
    browser = site.visitor()
    browser.environ_base["wsgi.url_scheme"] = "https"
    page = browser.get("/login", base_url="https://localhost")

    made = page.headers["Set-Cookie"]

    assert made.startswith("__Host-form=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(made.split("; "))
    assert "Domain=" not in made
