"""Who is asking: a random token in a cookie, and a row that knows its hash.

Nothing about the visitor is in the cookie. Public pages look at the row only when the cookie is
there, and never set one.
"""

import hashlib
import re
import secrets
from datetime import timedelta

from flask import Flask, Response, current_app, g, request, session
from werkzeug.wrappers import Response as Answer

from ppcfetch.model.account import User
from web.config import SiteConfig
from web.services import Services

TOKEN = re.compile(r"[0-9A-Za-z_-]{43}")
TOKEN_BYTES = 32


def services() -> Services:
    """Give what this site was made with."""
    found = current_app.extensions["ppcfetch.services"]
    assert isinstance(found, Services)  # noqa: S101 - tells the type checker what create_app put there
    return found


def site() -> SiteConfig:
    """Give the settings that this site was made with."""
    found = current_app.extensions["ppcfetch.site"]
    assert isinstance(found, SiteConfig)  # noqa: S101 - as above
    return found


def cookie_name(*, https: bool) -> str:
    """Give the name of the log-in cookie; the prefix makes browsers refuse a planted one."""
    return "__Host-login" if https else "login"


def token_hash() -> bytes | None:
    """Give the hash under which the visitor's log-in is kept, None without a usable cookie."""
    token = request.cookies.get(cookie_name(https=site().https), "")
    return _hash(token) if TOKEN.fullmatch(token) else None


def current_user() -> User | None:
    """Give who is signed in; asked once for each request, and never without a cookie."""
    if "user" not in g:
        known = token_hash()
        g.user = services().sessions.user_of(known) if known else None
    found: User | None = g.user
    return found


def sign_in(response: Answer, user: User) -> None:
    """Begin a log-in with a token nobody knew before, and forget what the browser held."""
    before = token_hash()
    if before:
        services().sessions.end(before)
    session.clear()
    token = secrets.token_urlsafe(TOKEN_BYTES)
    length = site().session_length
    services().sessions.begin(_hash(token), user.id, length)
    _set(response, token, length)


def sign_out(response: Answer) -> None:
    """End the log-in where it is kept, and in the browser."""
    known = token_hash()
    if known:
        services().sessions.end(known)
    session.clear()
    g.user = None
    _set(response, "", timedelta(0))


def install(app: Flask) -> None:
    """Give templates the user, and keep what depends on a log-in out of every cache."""
    app.context_processor(lambda: {"user": current_user()})

    @app.after_request
    def keep_private(response: Response) -> Response:
        if g.get("user") is not None or g.get("has_form"):
            response.headers["Cache-Control"] = "private, no-store"
        elif "Cache-Control" not in response.headers:
            response.headers["Cache-Control"] = "public, max-age=0, must-revalidate"
            response.add_etag(weak=True)
            response.make_conditional(request)
        response.vary.add("Cookie")
        return response


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("ascii")).digest()


def _set(response: Answer, token: str, length: timedelta) -> None:
    https = site().https
    response.set_cookie(
        cookie_name(https=https),
        token,
        max_age=length,
        secure=https,
        httponly=True,
        samesite="Lax",
        path="/",
    )
