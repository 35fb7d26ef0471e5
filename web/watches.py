"""Watching a domain: a person's list, which the schedule keeps fresh where it is switched on."""

from http import HTTPStatus

from flask import Blueprint, g, redirect, request, url_for
from werkzeug.exceptions import Forbidden
from werkzeug.wrappers import Response as Answer

from ppcfetch.model.account import User
from ppcfetch.model.domain import DomainName
from web.identity import current_user, services
from web.outward import safe_path

blueprint = Blueprint("watches", __name__)


@blueprint.post("/domains/<domain>/watch")
def watch(domain: str) -> Answer:
    """Put the domain on the list of who is signed in."""
    name = DomainName.parse(domain)
    g.back = url_for("domains.show", domain=name.name)
    services().watches.add(_user().id, name)
    return _back(name)


@blueprint.post("/domains/<domain>/unwatch")
def unwatch(domain: str) -> Answer:
    """Take the domain off his list."""
    name = DomainName.parse(domain)
    services().watches.remove(_user().id, name)
    return _back(name)


def _user() -> User:
    user = current_user()
    if user is None:
        raise Forbidden("sign in first")
    return user


def _back(name: DomainName) -> Answer:
    there = url_for("domains.show", domain=name.name)
    return redirect(safe_path(request.form.get("next"), there), HTTPStatus.SEE_OTHER)
