"""The domain page: what we hold, how fresh it is, and the form that asks for more."""

from http import HTTPStatus

from flask import Blueprint, g, make_response, redirect, render_template, request, url_for
from werkzeug.exceptions import Forbidden
from werkzeug.wrappers import Response as Answer

from ppcfetch.errors import InvalidDomain, NotFound, Refused
from ppcfetch.model.account import User
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchReason, FetchState
from ppcfetch.model.following import Leaving
from ppcfetch.model.page import AdQuery, DomainPage
from ppcfetch.ports import Request
from web.charts import activity_map, bar_lengths
from web.figures import bar_and_figures
from web.identity import current_user, services, site
from web.listing import Listing, query_from

ADS_ON_PAGE = 24
FILLS = {"HX-Retarget": "#main", "HX-Reselect": "#main", "HX-Reswap": "outerHTML"}
"""Tells htmx to take the answer's content for the page's."""
LEFT = "You left this fetch; it goes on without you."

blueprint = Blueprint("domains", __name__)


@blueprint.get("/domains")
def look_up() -> Answer:
    """Send what was typed to its page; words that are no domain go to the search."""
    typed = request.args.get("q", "")
    try:
        domain = DomainName.parse(typed)
    except InvalidDomain:
        if _is_a_name(typed):
            return redirect(url_for("search.search", q=typed.strip()), HTTPStatus.SEE_OTHER)
        raise
    return redirect(url_for("domains.show", domain=domain.name), HTTPStatus.SEE_OTHER)


@blueprint.get("/domains/<domain>")
def show(domain: str) -> Answer:
    """Show a domain; one that nobody had checked answers 404 with the same page."""
    name = DomainName.parse(domain)
    if name.name != domain:
        arguments = request.args.to_dict()
        canonical = url_for("domains.show", domain=name.name, **arguments)  # type: ignore[arg-type]
        return redirect(canonical, HTTPStatus.MOVED_PERMANENTLY)
    page = services().catalogue.domain_page(query_from(name, request.args), ADS_ON_PAGE)
    return make_response(_drawn(page), HTTPStatus.OK if page.known else HTTPStatus.NOT_FOUND)


@blueprint.get("/domains/<domain>/progress")
def progress(domain: str) -> Answer:
    """Give what a page that watches a fetch replaces: bar, numbers and the fetch's own line.

    A page without ads gets everything instead: nothing is there that could move under a hand.
    """
    name = DomainName.parse(domain)
    page = services().catalogue.progress(name)
    held = request.args.get("held", page.ads, type=int)
    if held == 0 < page.ads:
        whole = services().catalogue.domain_page(AdQuery(name), ADS_ON_PAGE)
        return make_response(_drawn(whole), HTTPStatus.OK, FILLS)
    bar, figures = bar_and_figures(page, shown=held)
    fragment = render_template(
        "parts/news.html",
        domain=name.name,
        bar=bar,
        figures=figures,
        fetch=page.latest,
        held=held,
        more=max(0, page.ads - held),
        live=True,
    )
    return make_response(fragment)


@blueprint.post("/domains/<domain>/refresh")
def refresh(domain: str) -> Answer:
    """Ask for a fetch, or join the one that is under way.

    Who wanted to join what has ended meanwhile is shown how it ended.
    """
    name = DomainName.parse(domain)
    user = current_user()
    if user is None:
        raise Forbidden("sign in first")
    there = url_for("domains.show", domain=name.name)
    g.back = there
    wish = Request(
        domain=name,
        reason=FetchReason.PERSON,
        asked_by=user.id,
        force=user.operator,
        window=site().stale_window,
        reach=site().reach,
        limit=site().fetches_at_once,
    )
    try:
        services().request_refresh(wish)
    except Refused:
        if "join" not in request.form:
            raise
    return redirect(there, HTTPStatus.SEE_OTHER)


@blueprint.post("/domains/<domain>/cancel")
def cancel(domain: str) -> Answer:
    """Leave the domain's fetch, or stop it and keep what was read; operators stop any."""
    name = DomainName.parse(domain)
    user = current_user()
    there = url_for("domains.show", domain=name.name)
    g.back = there
    fetch = services().catalogue.fetch(_number(request.form.get("fetch", "")))
    if fetch.domain != name:
        raise NotFound("no such fetch of this domain")
    if user is None:
        raise Forbidden("sign in first")
    if _stop(fetch, user) is Leaving.LEFT:
        there = url_for("domains.show", domain=name.name, left=fetch.id)
    return redirect(there, HTTPStatus.SEE_OTHER)


def _stop(fetch: Fetch, user: User) -> Leaving:
    """End the fetch for an operator; anybody else leaves it, which ends it if he was the last."""
    if user.operator:
        is_over = fetch.state is not FetchState.ACTIVE or not services().cancel(fetch.id)
        done = Leaving.OVER if is_over else Leaving.STOPPED
    else:
        done = services().followers.leave(fetch.id, user.id)
    if done is Leaving.STRANGER:
        raise Forbidden("asked for by somebody else")
    if done is Leaving.OVER:
        raise Refused("This fetch has ended already.")
    return done


def _drawn(page: DomainPage) -> str:
    query = query_from(page.domain, request.args)
    names = {share.advertiser_id: share.name for share in page.advertisers}
    listing = Listing(query, page.formats, names.get(query.advertiser_id or ""))
    bar, figures = bar_and_figures(page)
    user = current_user()
    newest = page.latest or page.complete
    lengths = bar_lengths([share.ads for share in page.advertisers])
    return render_template(
        "domain.html",
        page=page,
        domain=page.domain.name,
        shown=page.domain.unicode,
        asked=page.domain.unicode,
        bar=bar,
        figures=figures,
        held=page.ads,
        more=0,
        live=bar.every is not None,
        done=LEFT if user and _was_left(page.latest) else None,
        watched=user is not None and services().watches.has(user.id, page.domain),
        map=activity_map(page.per_day, page.now.date()),
        shares=list(zip(page.advertisers, lengths, strict=True)),
        listing=listing,
        filtered=not listing.is_plain,
        ads=page.listed,
        newest_fetch=newest.id if newest and newest.id != _first(page) else None,
    )


def _was_left(latest: Fetch | None) -> bool:
    """Tell whether the reader has just left what is still under way."""
    if latest is None or latest.state is not FetchState.ACTIVE:
        return False
    return request.args.get("left", type=int) == latest.id


def _first(page: DomainPage) -> int | None:
    """Give the fetch that made the page: calling all of its ads new would tell nothing."""
    ended = [fetch.id for fetch in page.fetches if fetch.found]
    return ended[0] if len(ended) == 1 else None


def _is_a_name(typed: str) -> bool:
    return bool(typed.strip()) and not set(typed) & set(".:/@\\[]") and typed.isprintable()


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):  # noqa: PLR2004 - fits in 64 bits
        raise NotFound("no such fetch")
    return int(text)
