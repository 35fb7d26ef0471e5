"""What visitors and robots should know about the site."""

from http import HTTPStatus

from flask import Blueprint, Response, current_app, redirect, render_template
from werkzeug.wrappers import Response as Answer

from web.identity import site
from web.text import lasting

ROBOTS = """\
User-agent: *
Disallow: /search
Disallow: /account
Disallow: /login
Disallow: /register
Disallow: /domains?
Disallow: /*/progress
Disallow: /*?
"""

blueprint = Blueprint("about", __name__)


@blueprint.get("/about/data")
def data() -> str:
    """Tell where the data comes from and what is missing."""
    return render_template(
        "about.html",
        window=lasting(site().stale_window),
        session_length=lasting(site().session_length),
    )


@blueprint.get("/robots.txt")
def robots() -> Response:
    """Ask robots to leave out what is of no use to them; nothing rests on their doing so."""
    return Response(ROBOTS, mimetype="text/plain")


@blueprint.get("/favicon.ico")
def favicon() -> Answer:
    """Send browsers that guess to the icon."""
    return redirect(current_app.extensions["ppcfetch.assets"]["favicon.svg"], HTTPStatus.FOUND)
