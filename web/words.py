"""What every template may say without being handed it."""

from flask import Flask, current_app, g, request
from flask_wtf.csrf import generate_csrf

from ppcfetch.model.fetch import told_kind
from ppcfetch.model.unexpected import for_strangers
from web.charts import frame
from web.identity import site
from web.outward import archive_ad, safe_path
from web.text import lasting, moment, name_or, number, plain, plural, time_tag

ARCHIVE = "Google’s public ad archive"
EMULATOR = "an emulator of Google’s public ad archive"
THEMES = frozenset({"light", "dark"})


def install(app: Flask) -> None:
    """Give templates the words for numbers, times, names and addresses."""
    app.jinja_env.trim_blocks = True
    app.jinja_env.globals.update(
        archive_ad=archive_ad,
        for_strangers=for_strangers,
        frame=frame,
        lasting=lasting,
        moment=moment,
        name_or=name_or,
        number=number,
        plain=plain,
        plural=plural,
        static=static,
        time_tag=time_tag,
        told_kind=told_kind,
    )
    app.context_processor(_of_this_request)


def csrf_token() -> str:
    """Give this browser's form token, and note that the page is for this browser alone."""
    g.has_form = True
    token: str = generate_csrf()
    return token


def static(name: str) -> str:
    """Give the address of a static file."""
    address = current_app.extensions["ppcfetch.assets"][name]
    assert isinstance(address, str)  # noqa: S101 - tells the type checker what create_app put there
    return address


def _of_this_request() -> dict[str, object]:
    chosen = request.cookies.get("theme")
    own = not request.path.startswith(("/login", "/register", "/logout"))
    return {
        "csrf_token": csrf_token,
        "theme": chosen if chosen in THEMES else None,
        "here": safe_path(request.path, "/") if own and request.method == "GET" else None,
        "invented": site().invented,
        "archive_name": EMULATOR if site().invented else ARCHIVE,
        "window_seconds": int(site().stale_window.total_seconds()),
    }
