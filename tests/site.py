"""A site on made answers: what it shows is decided by the test, and nothing else runs."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from flask import Flask
from flask.testing import FlaskClient
from jinja2.bccache import Bucket, BytecodeCache
from werkzeug.test import TestResponse

from ppcfetch.errors import NotFound, Refused
from ppcfetch.model.account import SHORTEST_PASSWORD, Account, User
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchReason, FetchState, Freshness
from ppcfetch.model.job_view import JobView
from ppcfetch.model.page import (
    AdList,
    AdPage,
    AdQuery,
    AdvertiserPage,
    Counts,
    DomainPage,
    Hits,
    ProgressPage,
)
from ppcfetch.ports import Asked, Request
from tests.site_lists import FakeFollowing, FakeWatchLists
from web import create_app
from web.config import SiteConfig
from web.services import Health, Services

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
DOMAIN = DomainName("bluebird-outdoor.example")
ADA = User(7, "ada@mail.example")
BOB = User(8, "bob@mail.example")
OPERATOR = User(9, "operator@mail.example", operator=True)
PASSWORD = "nine calm herons"
SITE = SiteConfig(
    secret_key="a key for tests only, long enough to pass",
    trusted_hosts=("localhost",),
    archive_site="https://archive.example",
    examples=("bluebird-outdoor.example",),
)


def a_fetch(state: FetchState = FetchState.DONE, **changes: object) -> Fetch:
    """Give a fetch that ended an hour ago, with changes."""
    ended = state is not FetchState.ACTIVE
    fetch = Fetch(
        id=41,
        domain=DOMAIN,
        state=state,
        reason=FetchReason.PERSON,
        asked_by=ADA.id,
        asked_at=NOW - timedelta(hours=1, seconds=48),
        started_at=NOW - timedelta(hours=1, seconds=46),
        finished_at=NOW - timedelta(hours=1) if ended else None,
        total=None,
        pages=3,
        found=231,
        new=14,
        changed=3,
        unseen=5 if state is FetchState.DONE else None,
        warnings=0,
        error=None,
    )
    return replace(fetch, **changes)  # type: ignore[arg-type]  # the test names real fields


def a_page(*fetches: Fetch, **changes: object) -> DomainPage:
    """Give a domain's page with these fetches, newest first; ads as the last complete one found."""
    complete = next((fetch for fetch in fetches if fetch.state is FetchState.DONE), None)
    ended = [fetch.finished_at for fetch in fetches if fetch.finished_at]
    page = DomainPage(
        domain=DOMAIN,
        now=NOW,
        known=bool(fetches),
        freshness=Freshness(complete.finished_at if complete else None, max(ended, default=None)),
        total=None,
        ads=complete.found if complete else 0,
        formats={},
        advertiser_count=1 if complete and complete.found else 0,
        fetches=fetches,
        complete=complete,
    )
    return replace(page, **changes)  # type: ignore[arg-type]  # the test names real fields


class CompiledTemplates(BytecodeCache):
    """Templates compiled once for all sites of a test process."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key] = bucket.bytecode_to_string()


COMPILED = CompiledTemplates()


@dataclass
class FakeCatalogue:
    """Gives what it was handed; remembers what it was asked."""

    pages: dict[DomainName, DomainPage] = field(default_factory=dict)
    lists: AdList = field(default_factory=lambda: AdList(()))
    hits: Hits = field(default_factory=Hits)
    advertisers: dict[str, AdvertiserPage] = field(default_factory=dict)
    ad_pages: dict[tuple[str, str], AdPage] = field(default_factory=dict)
    queries: list[AdQuery] = field(default_factory=list)
    failure: Exception | None = None

    def hold(self, page: DomainPage) -> None:
        """Give this page for its domain from now on."""
        self.pages[page.domain] = page

    def domain_page(self, query: AdQuery, limit: int) -> DomainPage:
        if self.failure:
            raise self.failure
        page = self.pages.get(query.domain) or a_page(domain=query.domain)
        if not page.ads:
            return page
        self.queries.append(query)
        return replace(page, listed=replace(self.lists, ads=self.lists.ads[:limit]))

    def progress(self, domain: DomainName) -> ProgressPage:
        page = self.pages.get(domain)
        if page is None:
            raise NotFound("no such domain")
        return ProgressPage(
            domain=page.domain,
            now=page.now,
            freshness=page.freshness,
            total=page.total,
            ads=page.ads,
            advertiser_count=page.advertiser_count,
            latest=page.latest,
            complete=page.complete,
            waiting=page.waiting,
        )

    def ad(self, advertiser_id: str, creative_id: str) -> AdPage:
        found = self.ad_pages.get((advertiser_id, creative_id))
        if found is None:
            raise NotFound("no such ad")
        return found

    def advertiser(self, advertiser_id: str) -> AdvertiserPage:
        found = self.advertisers.get(advertiser_id)
        if found is None:
            raise NotFound("no such advertiser")
        return found

    def fetch(self, fetch_id: int) -> Fetch:
        for page in self.pages.values():
            for fetch in page.fetches:
                if fetch.id == fetch_id:
                    return fetch
        raise NotFound("no such fetch")

    def search(self, words: str, limit: int) -> Hits:
        return self.hits

    def counts(self) -> Counts:
        return Counts(domains=3, advertisers=12, ads=2_350)


@dataclass
class FakeUsers:
    """Accounts in memory."""

    accounts: dict[str, Account] = field(default_factory=dict)

    def by_email(self, email: str) -> Account | None:
        return self.accounts.get(email)

    def add(self, email: str, password_hash: str) -> User:
        if email in self.accounts:
            raise Refused("taken")
        user = User(100 + len(self.accounts), email)
        self.accounts[email] = Account(user, password_hash)
        return user

    def set_password(self, user_id: int, password_hash: str) -> None:
        for email, account in self.accounts.items():
            if account.user.id == user_id:
                self.accounts[email] = replace(account, password_hash=password_hash)


@dataclass
class FakeSessions:
    """Log-ins in memory."""

    users: FakeUsers
    owners: dict[bytes, int] = field(default_factory=dict)
    looked_at: int = 0
    failure: Exception | None = None

    def begin(self, token_hash: bytes, user_id: int, length: timedelta) -> None:
        self.owners[token_hash] = user_id

    def user_of(self, token_hash: bytes) -> User | None:
        self.looked_at += 1
        if self.failure:
            raise self.failure
        owner = self.owners.get(token_hash)
        known = (account.user for account in self.users.accounts.values())
        return next((user for user in known if user.id == owner), None)

    def end(self, token_hash: bytes) -> None:
        self.owners.pop(token_hash, None)

    def end_others(self, user_id: int, keep: bytes) -> int:
        others = [key for key, owner in self.owners.items() if owner == user_id and key != keep]
        for key in others:
            del self.owners[key]
        return len(others)


@dataclass
class FakePasswords:
    """A hash that costs nothing; counts how often it was asked."""

    asked: int = 0

    def check(self, password: str) -> None:
        if len(password) < SHORTEST_PASSWORD:
            raise Refused("too short")

    def hash(self, password: str) -> str:
        self.asked += 1
        return f"hashed {password}"

    def verify(self, password_hash: str | None, password: str) -> bool:
        self.asked += 1
        return password_hash == f"hashed {password}"

    def is_outdated(self, password_hash: str) -> bool:
        return False


@dataclass
class FakeSite:
    """The site with everything that a test may want to look at."""

    config: SiteConfig = SITE
    catalogue: FakeCatalogue = field(default_factory=FakeCatalogue)
    users: FakeUsers = field(default_factory=FakeUsers)
    passwords: FakePasswords = field(default_factory=FakePasswords)
    following: FakeFollowing = field(default_factory=FakeFollowing)
    watches: FakeWatchLists = field(default_factory=FakeWatchLists)
    requests: list[Request] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    health: Health = field(default_factory=lambda: Health(database=True, schema=True, stream=True))
    refusal: Exception | None = None
    walks: tuple[JobView, ...] = ()

    def __post_init__(self) -> None:
        for user in (ADA, BOB, OPERATOR):
            self.users.accounts[user.email] = Account(user, f"hashed {PASSWORD}")
        self.sessions = FakeSessions(self.users)
        self.app: Flask = create_app(self._services(), self.config)
        self.app.jinja_env.bytecode_cache = COMPILED

    def visitor(self) -> FlaskClient:
        """Give a browser without any cookie."""
        return self.app.test_client()

    def signed_in(self, user: User = ADA) -> FlaskClient:
        """Give a browser that has signed in through the form."""
        browser = self.visitor()
        answer = send(browser, "/login", email=user.email, password=PASSWORD)
        assert answer.status_code == 303, answer.text
        return browser

    def _services(self) -> Services:
        def request_refresh(request: Request) -> Asked:
            if self.refusal:
                raise self.refusal
            self.requests.append(request)
            return Asked(a_fetch(FetchState.ACTIVE), (), joined=False)

        def cancel(fetch_id: int) -> bool:
            self.cancelled.append(fetch_id)
            return True

        look: Callable[[], Health] = lambda: self.health  # noqa: E731 - one line says it
        return Services(
            catalogue=self.catalogue,
            request_refresh=request_refresh,
            cancel=cancel,
            users=self.users,
            sessions=self.sessions,
            passwords=self.passwords,
            watches=self.watches,
            followers=self.following,
            health=look,
            walks=lambda _fetch: self.walks,
        )


def send(browser: FlaskClient, path: str, form: str | None = None, **fields: str) -> TestResponse:
    """Send a form with the token of the page it stands on; that page is the path by default."""
    page = browser.get(form or path).text
    return browser.post(path, data={"csrf_token": token_in(page), **fields})


def token_in(page: str) -> str:
    """Give the form token in a page, empty when it has none."""
    found = re.search(r'name="csrf_token" value="([^"]+)"', page)
    return found[1] if found else ""
