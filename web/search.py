"""The start page and the search for what has been looked up already."""

from http import HTTPStatus

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as Answer

from ppcfetch.errors import InvalidDomain
from ppcfetch.model.domain import DomainName
from ppcfetch.model.page import Hits
from web.identity import services, site
from web.text import plain

LONGEST_SEARCH = 100
SHORTEST_SEARCH = 2
HITS = 20

blueprint = Blueprint("search", __name__)


@blueprint.get("/")
def home() -> str:
    """Show what this is, and where to type."""
    examples = [DomainName(example) for example in site().examples]
    return render_template("home.html", examples=examples, counts=services().catalogue.counts())


@blueprint.get("/search")
def search() -> str | Answer:
    """Find domains by how they begin and advertisers by name; a whole domain is gone to."""
    words = plain(request.args.get("q", "")[: LONGEST_SEARCH * 4])[:LONGEST_SEARCH]
    try:
        domain = DomainName.parse(words)
    except InvalidDomain:
        is_long_enough = len(words) >= SHORTEST_SEARCH
        hits = services().catalogue.search(words, HITS) if is_long_enough else Hits()
        return render_template("search.html", asked=words, hits=hits)
    return redirect(url_for("domains.show", domain=domain.name), HTTPStatus.SEE_OTHER)
