"""What every answer tells the browser to refuse, and which posts are refused here."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from flask import Flask, Request, Response, request
from werkzeug.exceptions import Forbidden

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
YEAR_SECONDS = 365 * 24 * 60 * 60
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def static_headers(*, https: bool) -> Mapping[str, str]:
    """Give the headers that every answer bears, files and errors included."""
    headers = {
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Frame-Options": "DENY",
    }
    if https:
        headers["Strict-Transport-Security"] = f"max-age={YEAR_SECONDS}; includeSubDomains"
    return headers


def is_foreign(asked: Request) -> bool:
    """Tell whether a request that changes something was sent by another site's page.

    Shape: clients that send neither Sec-Fetch-Site nor Origin are no browsers of today; the
    token alone decides about them.
    """
    site = asked.headers.get("Sec-Fetch-Site")
    if site is not None and site not in {"same-origin", "none"}:
        return True
    origin = asked.headers.get("Origin")
    return origin is not None and urlsplit(origin).netloc != asked.host


def install(app: Flask, *, https: bool) -> None:
    """Refuse foreign posts, and put the headers on every answer."""
    headers = static_headers(https=https)

    @app.before_request
    def refuse_foreign_posts() -> None:
        if request.method not in SAFE_METHODS and is_foreign(request):
            raise Forbidden("foreign origin")

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(headers)
        return response
