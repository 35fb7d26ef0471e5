"""What every answer bears, who may call what, and which requests are refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import web
from ppcfetch.errors import DatabaseUnavailable
from ppcfetch.model.fetch import FetchState
from tests.site import ADA, NOW, PASSWORD, SITE, FakeSite, a_fetch, a_page, send, token_in
from web.permissions import ROUTES, Access

ADDRESS = "/domains/bluebird-outdoor.example"
PUBLIC = [
    "/",
    "/about/data",
    "/robots.txt",
    "/favicon.ico",
    "/search?q=blue",
    "/domains?q=x.example",
    "/domains?q=192.0.2.1",
    ADDRESS,
    f"{ADDRESS}?format=text",
    f"{ADDRESS}/progress",
    f"{ADDRESS}/fetches/41",
    f"{ADDRESS}/refresh",
    "/domains/WWW.x.example",
    "/domains/x.example",
    "/advertisers/AR1",
    "/ads/AR1/CR1",
    "/livez",
    "/readyz",
    "/nothing/here",
    "/static/nothing.css",
    "/console",
    "/.git/config",
]
PRIVATE = ["/login", "/register", "/account"]


def a_site() -> FakeSite:
    site = FakeSite()
    site.catalogue.hold(a_page(a_fetch()))
    return site


GUARDS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


def assert_guarded(headers: dict[str, str]) -> None:
    assert {name: headers.get(name) for name in GUARDS} == GUARDS


@pytest.mark.parametrize("path", [*PUBLIC, *PRIVATE])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_every_answer_bears_the_guards(path: str, method: str) -> None:
    answer = a_site().visitor().open(path, method=method)

    assert_guarded(dict(answer.headers))


def test_static_files_bear_the_guards_and_may_be_kept_for_ever() -> None:
    site = a_site()

    for address in site.app.extensions["ppcfetch.assets"].values():
        answer = site.visitor().get(address, buffered=True)
        assert answer.status_code == 200
        assert_guarded(dict(answer.headers))
        assert ("immutable" in answer.headers["Cache-Control"]) == ("LICENSE" not in address)


def test_over_https_browsers_are_told_to_stay_there() -> None:
    site = FakeSite(replace(SITE, https=True))

    assert "max-age=31536000" in site.visitor().get("/").headers["Strict-Transport-Security"]
    assert "Strict-Transport-Security" not in a_site().visitor().get("/").headers


@pytest.mark.parametrize("path", PUBLIC)
def test_public_pages_set_no_cookie_and_look_at_no_log_in(path: str) -> None:
    site = a_site()

    answer = site.visitor().get(path)

    assert "Set-Cookie" not in answer.headers
    assert site.sessions.looked_at == 0


@pytest.mark.parametrize("path", PRIVATE)
def test_pages_with_a_form_are_kept_by_nobody(path: str) -> None:
    assert a_site().signed_in().get(path).headers["Cache-Control"] == "private, no-store"


def test_what_somebody_signed_in_sees_is_kept_by_nobody() -> None:
    browser = a_site().signed_in()

    for path in ("/", ADDRESS, f"{ADDRESS}/progress", "/about/data", "/nothing"):
        answer = browser.get(path)
        assert answer.headers["Cache-Control"] == "private, no-store"
        assert "Cookie" in answer.headers["Vary"]


def test_public_pages_are_sent_again_only_when_they_changed() -> None:
    browser = a_site().visitor()
    first = browser.get(ADDRESS)

    again = browser.get(ADDRESS, headers={"If-None-Match": first.headers["ETag"]})

    assert (first.status_code, again.status_code) == (200, 304)
    assert first.headers["Cache-Control"] == "public, max-age=0, must-revalidate"


def test_the_table_of_routes_is_the_map_of_routes() -> None:
    site = a_site()

    assert {rule.endpoint for rule in site.app.url_map.iter_rules()} == set(ROUTES)


def test_what_is_for_those_signed_in_serves_no_visitor() -> None:
    site = a_site()
    closed = {endpoint for endpoint, access in ROUTES.items() if access is Access.SIGNED_IN}
    browser = site.visitor()
    token = token_in(browser.get("/login").text)

    for rule in site.app.url_map.iter_rules():
        if rule.endpoint in closed:
            path = str(rule).replace("<domain>", "x.example")
            method = "POST" if "POST" in (rule.methods or ()) else "GET"
            answer = browser.open(path, method=method, data={"csrf_token": token})
            assert answer.status_code in {303, 403}, path


def test_a_route_without_an_entry_is_closed() -> None:
    site = a_site()
    site.app.add_url_rule("/new", "new", lambda: "open")

    assert site.visitor().get("/new").status_code == 403
    assert site.signed_in().get("/new").status_code == 403


def test_looking_changes_nothing() -> None:
    site = a_site()
    browser = site.signed_in()
    kept = dict(site.sessions.owners), dict(site.users.accounts)

    for path in [*PUBLIC, *PRIVATE, "/logout", f"{ADDRESS}/cancel", "/account/password"]:
        for method in ("GET", "HEAD", "OPTIONS"):
            browser.open(path, method=method, headers={"Sec-Purpose": "prefetch"})

    assert (site.requests, site.cancelled) == ([], [])
    assert (site.sessions.owners, site.users.accounts) == kept


def posts(browser: FlaskClient, **headers: str) -> int:
    data = {"csrf_token": token_in(browser.get("/account").text)}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return browser.post(f"{ADDRESS}/refresh", data=data, headers=named).status_code


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),
        ({"Origin": "http://localhost", "Sec_Fetch_Site": "same-origin"}, 303),
        ({"Sec_Fetch_Site": "none"}, 303),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_a_post_from_another_sites_page_is_refused(headers: dict[str, str], status: int) -> None:
    site = a_site()

    assert posts(site.signed_in(), **headers) == status
    assert len(site.requests) == (status == 303)


def test_a_post_without_this_browsers_token_is_refused() -> None:
    site = a_site()
    browser, other = site.signed_in(), site.signed_in()
    foreign = token_in(other.get("/account").text)

    for token in ("", "made up", foreign):
        answer = browser.post(f"{ADDRESS}/refresh", data={"csrf_token": token})
        assert answer.status_code == 400
        assert "Please send it again" in answer.text
    assert not site.requests


def test_every_form_that_posts_bears_a_token() -> None:
    for template in (Path(web.__file__).parent / "templates").rglob("*.html"):
        text = template.read_text()
        assert text.count('method="post"') == text.count('name="csrf_token"'), template.name


def test_another_host_name_is_refused() -> None:
    answer = a_site().visitor().get("/", base_url="http://evil.example")

    assert answer.status_code == 400
    assert "evil.example" not in answer.text


def test_a_forwarded_address_is_believed_only_behind_so_many_proxies() -> None:
    forwarded = {"X-Forwarded-For": "203.0.113.9, 198.51.100.7", "X-Forwarded-Host": "evil.example"}
    plain, proxied = a_site(), FakeSite(replace(SITE, proxy_hops=1))

    answers = [site.visitor().get("/", headers=forwarded).status_code for site in (plain, proxied)]

    assert answers == [200, 400]


def test_a_body_larger_than_any_form_is_refused() -> None:
    browser = a_site().visitor()
    token = token_in(browser.get("/login").text)

    answer = browser.post("/login", data={"csrf_token": token, "email": "x" * 70_000})

    assert answer.status_code == 413
    assert_guarded(dict(answer.headers))


def test_a_form_of_many_parts_is_refused() -> None:
    parts = {f"part{number}": "x" for number in range(60)}

    answer = a_site().visitor().post("/login", data=parts, content_type="multipart/form-data")

    assert answer.status_code == 413


def test_when_the_database_is_away_the_page_says_so_and_names_no_secret() -> None:
    site = a_site()
    site.catalogue.failure = DatabaseUnavailable("no answer from user:secret@host")

    answer = site.visitor().get(ADDRESS)

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    assert "secret" not in answer.text
    assert_guarded(dict(answer.headers))


def test_when_nobody_can_say_who_is_signed_in_the_page_says_so_too() -> None:
    site = a_site()
    browser = site.signed_in()
    site.sessions.failure = DatabaseUnavailable("no answer")

    answer = browser.get(ADDRESS)

    assert answer.status_code == 503
    assert "Back in a moment" in answer.text


def test_a_mistake_of_ours_is_a_page_with_a_reference_and_nothing_else() -> None:
    site = a_site()
    site.catalogue.failure = RuntimeError("secret detail")

    answer = site.visitor().get(ADDRESS)

    assert answer.status_code == 500
    assert answer.headers["X-Request-ID"] in answer.text
    assert "secret" not in answer.text
    assert answer.headers["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize(
    ("given", "is_kept"), [("abcdef-0123456789", True), ("short", False), ("x\ty" * 5, False)]
)
def test_a_request_keeps_the_id_that_a_proxy_gave_it(given: str, is_kept: bool) -> None:  # noqa: FBT001
    answer = a_site().visitor().get("/livez", headers={"X-Request-ID": given})

    assert (answer.headers["X-Request-ID"] == given) is is_kept


def test_an_expired_log_in_is_no_log_in() -> None:
    site = a_site()
    browser = site.signed_in()
    site.sessions.owners.clear()

    assert browser.get("/account").status_code == 303
    assert "Sign in" in browser.get("/").text


def test_settings_show_no_secret() -> None:
    assert SITE.secret_key not in repr(SITE)


def test_an_active_fetch_of_somebody_else_shows_no_button() -> None:
    site = FakeSite()
    site.catalogue.hold(a_page(a_fetch(FetchState.ACTIVE, asked_by=8, asked_at=NOW)))

    assert "Stop and keep" not in site.signed_in(ADA).get(ADDRESS).text
    assert send(site.visitor(), "/login", email=ADA.email, password=PASSWORD).status_code == 303
