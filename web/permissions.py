"""Who may call what: one table, checked before every request. What is not in it is refused."""

from enum import StrEnum
from http import HTTPStatus

from flask import Flask, redirect, request, url_for
from werkzeug.exceptions import Forbidden
from werkzeug.wrappers import Response

from web.identity import current_user


class Access(StrEnum):
    """Whom a route serves."""

    ANYBODY = "anybody"
    SIGNED_IN = "signed in"


ROUTES: dict[str, Access] = {
    "about.data": Access.ANYBODY,
    "about.favicon": Access.ANYBODY,
    "about.robots": Access.ANYBODY,
    "accounts.account": Access.SIGNED_IN,
    "accounts.change_password": Access.SIGNED_IN,
    "accounts.log_in": Access.ANYBODY,
    "accounts.log_out": Access.ANYBODY,
    "accounts.register": Access.ANYBODY,
    "accounts.send_log_in": Access.ANYBODY,
    "accounts.send_register": Access.ANYBODY,
    "accounts.sign_out_others": Access.SIGNED_IN,
    "ads.ad": Access.ANYBODY,
    "ads.advertiser": Access.ANYBODY,
    "domains.cancel": Access.SIGNED_IN,
    "domains.look_up": Access.ANYBODY,
    "domains.progress": Access.ANYBODY,
    "domains.refresh": Access.SIGNED_IN,
    "domains.show": Access.ANYBODY,
    "fetches.show": Access.ANYBODY,
    "health.livez": Access.ANYBODY,
    "health.readyz": Access.ANYBODY,
    "search.home": Access.ANYBODY,
    "search.search": Access.ANYBODY,
    "watches.unwatch": Access.SIGNED_IN,
    "watches.watch": Access.SIGNED_IN,
}


def install(app: Flask) -> None:
    """Check the table before every request that has a route."""

    @app.before_request
    def check() -> Response | None:
        if request.endpoint is None:
            return None
        access = ROUTES.get(request.endpoint)
        if access is Access.ANYBODY:
            return None
        if access is None or current_user() is None:
            return _refuse(access)
        return None


def _refuse(access: Access | None) -> Response:
    if access is Access.SIGNED_IN and request.method in {"GET", "HEAD"}:
        there = url_for("accounts.log_in", next=request.path)
        return redirect(there, code=HTTPStatus.SEE_OTHER)
    raise Forbidden("sign in first")
