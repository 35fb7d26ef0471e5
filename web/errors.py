"""What a visitor is told when something cannot be done: plain words and what to try."""

from dataclasses import dataclass
from http import HTTPStatus

import structlog
from flask import Flask, Response, g, make_response, render_template
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException, SecurityError
from werkzeug.wrappers import Response as Answer

from ppcfetch.errors import InvalidDomain, NotFound, PpcFetchError, Refused, Unavailable
from web.identity import current_user
from web.request_log import request_id


@dataclass(frozen=True, slots=True)
class Explanation:
    """One kind of error in words for a visitor."""

    title: str
    text: str


EXPLANATIONS: dict[int, Explanation] = {
    400: Explanation(
        "That could not be understood",
        "The address or the form was not as expected. Go back and try once more.",
    ),
    403: Explanation(
        "This is not allowed",
        "You may need to sign in, or this belongs to somebody else.",
    ),
    404: Explanation("Nothing here", "There is no page at this address."),
    405: Explanation("Not this way", "This address does not answer that kind of request."),
    409: Explanation("Not now", "This cannot be done at the moment."),
    413: Explanation("Too long", "What was sent is larger than any form of ours."),
    429: Explanation("Too many tries", "Please wait a minute, then try again."),
    500: Explanation("Our mistake", "Something went wrong on our side. It has been noted."),
    503: Explanation(
        "Back in a moment",
        "Our database does not answer right now. Nothing was changed; please try again shortly.",
    ),
}
RETRY_SECONDS = 10
WRONG_HOST = "This site does not answer under that name.\n"
EXPIRED = "The form was open for too long, or your browser keeps no cookies. Please send it again."


def install(app: Flask) -> None:
    """Answer every error with a page of ours."""
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(CSRFError, lambda _error: error_page(400, EXPIRED))
    app.register_error_handler(InvalidDomain, lambda error: error_page(400, str(error)))
    app.register_error_handler(Refused, lambda error: error_page(409, str(error)))
    app.register_error_handler(NotFound, lambda _error: error_page(404))
    app.register_error_handler(Unavailable, _away)
    app.register_error_handler(PpcFetchError, _unforeseen)
    app.register_error_handler(Exception, _unforeseen)


def error_page(status: int, text: str | None = None) -> Response:
    """Give the page for a status, with more exact words where there are some."""
    _forget_an_unknown_user(status)
    known = EXPLANATIONS.get(status) or EXPLANATIONS[400 if status < 500 else 500]  # noqa: PLR2004
    body = render_template(
        "error.html",
        status=status,
        title=known.title,
        text=text or known.text,
        back=g.get("back"),
        reference=request_id() if status >= HTTPStatus.INTERNAL_SERVER_ERROR else None,
    )
    response = make_response(body, status)
    response.headers["Cache-Control"] = "private, no-store"
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def _forget_an_unknown_user(status: int) -> None:
    """Let an error page be drawn although nothing can tell who is there."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        g.setdefault("user", None)
        return
    try:
        current_user()
    except Unavailable:
        g.user = None


def _http(error: HTTPException) -> Answer:
    if error.code is None or error.code < HTTPStatus.BAD_REQUEST:
        return error.get_response()
    if isinstance(error, SecurityError):
        # Without a host that is ours there are no addresses, and so no page of ours.
        return Response(WRONG_HOST, HTTPStatus.BAD_REQUEST, mimetype="text/plain")
    response = error_page(error.code)
    for name, value in error.get_headers():
        if name in {"Allow", "Retry-After"}:
            response.headers[name] = value
    return response


def _away(error: Exception) -> Response:
    structlog.get_logger().warning("http.unavailable", error=str(error))
    return error_page(503)


def _unforeseen(error: Exception) -> Response:
    structlog.get_logger().error("http.failed", exc_info=error)
    return error_page(500)
