"""The four numbers under the freshness bar, each with what it rests on."""

from dataclasses import dataclass

from flask import url_for
from markupsafe import Markup

from ppcfetch.model.ad import TotalRange
from ppcfetch.model.fetch import Fetch, FetchState
from ppcfetch.model.page import DomainPage, ProgressPage
from web.freshness import Bar, Reader, Situation, bar_for
from web.identity import current_user, services, site
from web.text import day, number


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its name and what it rests on."""

    name: str
    value: str
    note: str | Markup


def bar_and_figures(
    page: DomainPage | ProgressPage, *, shown: int | None = None
) -> tuple[Bar, tuple[Figure, ...]]:
    """Give the bar and the numbers of a domain as its page was read.

    Shape: shown is what the rest of the page counts, when that was drawn at an earlier moment.
    """
    situation = Situation(
        held=page.ads,
        freshness=page.freshness,
        latest=page.latest,
        waiting=page.waiting,
        now=page.now,
        window=site().stale_window,
    )
    return bar_for(situation, _reader(page.latest)), _figures(page, shown)


def total_in_words(total: TotalRange | None, fetch: Fetch | None) -> str:
    """Give the archive's own range, such as 200–300, or why there is none.

    Shape: fetch is the one that last asked for it.
    """
    if total is None and fetch is None:
        return "the archive was not asked yet"
    if total is None and fetch and fetch.state is FetchState.ACTIVE and fetch.pages == 0:
        return "waiting for the first page"
    if total is None:
        return "archive gave no total"
    if total.lower == total.upper:
        return f"archive says {number(total.upper)}"
    return f"archive says {number(total.lower)}–{number(total.upper)}"


def _reader(latest: Fetch | None) -> Reader:
    """Give who looks, and his part in what is under way."""
    user = current_user()
    if user is None:
        return Reader()
    if latest is None or latest.state is not FetchState.ACTIVE:
        return Reader(user.id, may_force=user.operator)
    company = services().followers.company(latest.id, user.id)
    return Reader(user.id, may_force=user.operator, company=company)


def _figures(page: DomainPage | ProgressPage, shown: int | None) -> tuple[Figure, ...]:
    latest, complete = page.latest, page.complete
    is_active = latest is not None and latest.state is FetchState.ACTIVE
    is_running = latest is not None and is_active and (latest.pages > 0 or complete is None)
    newest = latest if is_running else complete or latest
    total = total_in_words(page.total, latest)
    if shown is not None and shown < page.ads:
        total = f"{number(shown)} counted below"
    return (
        Figure("Ads held", number(page.ads), total),
        Figure("Advertisers", number(page.advertiser_count), _each(page)),
        Figure(
            "New in this check" if is_running else "New in the last check",
            number(newest.new) if newest else "–",
            _source(newest, "so far, by") if is_running else _source(newest, "by"),
        ),
        Figure(
            "Not seen lately",
            number(complete.unseen if complete else None),
            _source(complete, "held, not met by", dated=False)
            if complete and complete.unseen is not None
            else "known after a full check",
        ),
    )


def _each(page: DomainPage | ProgressPage) -> str:
    if page.advertiser_count == 0:
        return "who pays for them"
    if page.advertiser_count == 1:
        return "pays for all of them" if page.ads > 1 else "pays for it"
    return "pay for them"


def _source(fetch: Fetch | None, before: str, *, dated: bool = True) -> str | Markup:
    if fetch is None:
        return "nothing was read yet"
    address = url_for("fetches.show", domain=fetch.domain.name, fetch_id=fetch.id)
    on = f", {day(fetch.finished_at)}" if dated and fetch.finished_at else ""
    return Markup('{} <a href="{}">fetch {}</a>{}').format(before, address, fetch.id, on)
