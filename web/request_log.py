"""One event for each answer, and the id that ties it to what the visitor was told."""

import re
import secrets
import time

import structlog
from flask import Flask, Response, g, request

GIVEN_ID = re.compile(r"[0-9A-Za-z-]{8,64}")
QUIET_PATHS = frozenset({"/livez", "/readyz"})


def request_id() -> str:
    """Give this request's id: the proxy's own when it sent a usable one, else a random one."""
    found = g.get("request_id")
    if not isinstance(found, str):
        given = request.headers.get("X-Request-ID", "")
        found = given if GIVEN_ID.fullmatch(given) else secrets.token_hex(8)
        g.request_id = found
    return found


def install(app: Flask) -> None:
    """Log every answer with its route, status and duration, and send its id along.

    The path is left out of the log: it may name what a visitor looks for; the route is enough.
    """

    @app.before_request
    def start() -> None:
        g.started = time.monotonic()
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id())

    @app.after_request
    def note(response: Response) -> Response:
        response.headers["X-Request-ID"] = request_id()
        if request.path in QUIET_PATHS and response.status_code == 200:  # noqa: PLR2004 - HTTP's own number
            return response
        started = g.get("started", time.monotonic())
        structlog.get_logger().info(
            "http.request",
            method=request.method,
            route=str(request.url_rule) if request.url_rule else None,
            status=response.status_code,
            duration_ms=round((time.monotonic() - started) * 1000, 1),
            request_id=request_id(),
        )
        return response
