"""The site on a real database and a real stream: clicks do something, looking does nothing."""

import re
from collections.abc import Iterator, Mapping
from html import unescape

import pytest
import redis
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine, create_engine, text

from ppcfetch.adapters.database.schema_operators import metadata
from ppcfetch.bootstrap.site import open_site
from ppcfetch.settings import load_settings
from tests.site import send
from web import create_app
from web.checks import Checks
from web.limits import KEYS
from web.serve import config_of, services_of

DOMAIN = "bluebird-outdoor.example"
ADDRESS = f"/domains/{DOMAIN}"
PASSWORD = "nine calm herons on a lake"
LINK = re.compile(r'(?:href|hx-get)="(/[^"#]*)')
MOST_PAGES = 300

FILL = """
INSERT INTO domains (domain, checked_at, attempted_at, ads, text_ads, advertisers)
VALUES (:domain, now() - interval '3 days', now() - interval '3 days', 60, 60, 1);
INSERT INTO advertisers (advertiser_id, name) VALUES ('AR1', 'Bluebird Outdoor GmbH');
INSERT INTO domain_advertisers (domain, advertiser_id, ads) VALUES (:domain, 'AR1', 60);
INSERT INTO domain_days (domain, day, delta) VALUES (:domain, current_date - 40, 60);
INSERT INTO fetches (domain, state, reason, finished_at, found, new)
VALUES (:domain, 'done', 'person', now() - interval '3 days', 60, 60);
INSERT INTO ads (domain, advertiser_id, creative_id, format, first_shown, last_shown,
    preview_kind, first_fetch_id, last_fetch_id)
SELECT :domain, 'AR1', 'CR' || n, 1, now() - interval '40 days', now() - n * interval '1 hour',
    0, 1, 1 FROM generate_series(1, 60) n;
"""


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = create_engine(database_url)
    with engine.begin() as connection:
        for statement in FILL.strip().split(";\n"):
            connection.execute(text(statement.rstrip(";")), {"domain": DOMAIN})
    yield engine
    engine.dispose()


@pytest.fixture
def app(engine: Engine, database_url: str, redis_url: str) -> Iterator[Flask]:
    settings = load_settings(
        database_url=database_url, redis_url=redis_url, secret_key="a key for tests" * 4
    )
    with open_site(settings, threads=2) as ports:
        checks = Checks(ports.database_facts, ports.stream_epoch)
        yield create_app(services_of(ports, checks), config_of(settings, ports.limiter))
        checks.close()


def registered(app: Flask, email: str = "ada@mail.example") -> FlaskClient:
    browser = app.test_client()
    answer = send(browser, "/register", email=email, password=PASSWORD)
    assert answer.status_code == 303, answer.text
    return browser


def everything(engine: Engine) -> Mapping[str, str | None]:
    """Give a mark of each table that changes with any of its rows."""
    with engine.connect() as connection:
        return {
            name: connection.execute(
                text(f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {name} t")  # noqa: S608 - our own names
            ).scalar_one()
            for name in metadata.tables
        }


def in_redis(redis_url: str) -> set[str]:
    with redis.from_url(redis_url) as client:
        names = {key.decode() for key in client.scan_iter("*")}
    return {name for name in names if not name.startswith(KEYS)}


def crawl(browser: FlaskClient) -> set[str]:
    """Open every page that pages lead to, by GET and by HEAD; gives the addresses opened."""
    waiting, seen = ["/", ADDRESS, f"{ADDRESS}/progress", "/domains/unknown.example"], set[str]()
    while waiting and len(seen) < MOST_PAGES:
        address = waiting.pop(0)
        if address in seen:
            continue
        seen.add(address)
        browser.head(address, headers={"Sec-Purpose": "prefetch"}, buffered=True)
        page = browser.get(address, buffered=True)
        assert page.status_code < 500, address
        if page.mimetype == "text/html":
            waiting += map(unescape, LINK.findall(page.text))
    return seen


@pytest.mark.parametrize("who", ["a visitor", "somebody signed in"])
def test_looking_at_everything_changes_no_row_and_sends_no_message(
    app: Flask, engine: Engine, redis_url: str, who: str
) -> None:
    browser = app.test_client() if who == "a visitor" else registered(app)
    before = everything(engine)

    seen = crawl(browser)

    assert {ADDRESS, "/advertisers/AR1", f"{ADDRESS}/fetches/1", "/ads/AR1/CR60"} <= seen
    assert any("after=" in address for address in seen)
    assert everything(engine) == before
    assert in_redis(redis_url) == set()


def test_a_click_is_a_row_and_a_message_and_a_second_one_joins(
    app: Flask, engine: Engine, redis_url: str
) -> None:
    first, second = registered(app), registered(app, "bob@mail.example")
    pages = [browser.get(ADDRESS).text for browser in (first, second)]

    for browser in (first, second):
        assert send(browser, f"{ADDRESS}/refresh", "/account").status_code == 303

    assert all("data-ask" in page for page in pages)
    with engine.connect() as connection:
        active = text("SELECT count(*) FROM fetches WHERE state = 'active'")
        assert connection.execute(active).scalar_one() == 1
    with redis.from_url(redis_url) as client:
        assert client.xlen("{ppcfetch}:interactive") == 1
    assert "1st in line" in first.get(ADDRESS).text


def test_a_stopped_fetch_is_not_asked_for_again_by_the_page(app: Flask) -> None:
    browser = registered(app)
    send(browser, f"{ADDRESS}/refresh", "/account")
    fetch = re.search(r'name="fetch" value="(\d+)"', browser.get(ADDRESS).text)
    assert fetch is not None

    answer = send(browser, f"{ADDRESS}/cancel", "/account", fetch=fetch[1])

    page = browser.get(ADDRESS).text
    assert answer.status_code == 303
    assert "Stopped on request" in page
    assert "Try again" in page
    assert "data-ask" not in page


def test_accounts_work_to_the_end(app: Flask) -> None:
    here = registered(app)
    elsewhere = app.test_client()
    send(elsewhere, "/login", email="ada@mail.example", password=PASSWORD)
    new = "twelve loud geese at noon"

    answer = send(here, "/account/password", "/account", current=PASSWORD, password=new)

    assert answer.status_code == 303
    assert here.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 303
    assert send(elsewhere, "/login", email="ada@mail.example", password=new).status_code == 303


def test_the_site_is_ready(app: Flask) -> None:
    answer = app.test_client().get("/readyz")

    assert answer.json == {"status": "ok", "database": True, "schema": True, "stream": True}
