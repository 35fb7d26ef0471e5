"""Signing in and out, registering, and changing a password. Texts never tell who has an account."""

from http import HTTPStatus

import structlog
from flask import Blueprint, make_response, redirect, render_template, request, url_for
from werkzeug.exceptions import Forbidden
from werkzeug.wrappers import Response as Answer

from ppcfetch.errors import Refused
from ppcfetch.model.account import LONGEST_EMAIL, LONGEST_PASSWORD, SHORTEST_PASSWORD, User
from web.identity import current_user, services, sign_in, sign_out, site, token_hash
from web.outward import safe_path
from web.text import lasting

WRONG = "Address and password do not belong together."
NOT_MADE = "No account could be made with these. If you have one already, sign in."
BAD_EMAIL = "That is not an e-mail address."
SAME_AS_EMAIL = "The password cannot be the address."
DONE = {
    "password": "The password is changed. Your other log-ins have ended.",
    "elsewhere": "All other log-ins have ended.",
}
MOST_WATCHED = 500
"""Watched domains that are listed."""

blueprint = Blueprint("accounts", __name__)


@blueprint.get("/login")
def log_in() -> Answer:
    """Show the log-in form."""
    return _form("login.html")


@blueprint.post("/login")
def send_log_in() -> Answer:
    """Check address and password, and begin a log-in."""
    email = _email()
    account = services().users.by_email(email)
    password = request.form.get("password", "")
    kept = account.password_hash if account else None
    is_right = services().passwords.verify(kept, password[: LONGEST_PASSWORD + 1])
    if account is None or not is_right:
        structlog.get_logger().warning("login.failed")
        return _form("login.html", WRONG, HTTPStatus.UNPROCESSABLE_ENTITY)
    if services().passwords.is_outdated(account.password_hash):
        services().users.set_password(account.user.id, services().passwords.hash(password))
    return _begin(account.user)


@blueprint.get("/register")
def register() -> Answer:
    """Show the form that makes an account."""
    return _form("register.html")


@blueprint.post("/register")
def send_register() -> Answer:
    """Make an account and begin a log-in.

    Shape: an address that has an account already gets the same answer as any other refusal,
    after the same slow hash.
    """
    email, password = _email(), request.form.get("password", "")
    problem = _problem_with(email) or _problem_with_password(password, email)
    if problem:
        return _form("register.html", problem, HTTPStatus.UNPROCESSABLE_ENTITY)
    hashed = services().passwords.hash(password)
    try:
        user = services().users.add(email, hashed)
    except Refused:
        return _form("register.html", NOT_MADE, HTTPStatus.UNPROCESSABLE_ENTITY)
    structlog.get_logger().info("user.registered", user=user.id)
    return _begin(user)


@blueprint.post("/logout")
def log_out() -> Answer:
    """End the log-in."""
    response = redirect(url_for("search.home"), HTTPStatus.SEE_OTHER)
    sign_out(response)
    return response


@blueprint.get("/account")
def account() -> Answer:
    """Show the watched domains, and what can be changed about one's account."""
    return _account()


@blueprint.post("/account/password")
def change_password() -> Answer:
    """Change the password and end all other log-ins."""
    user = _user()
    known = services().users.by_email(user.email)
    kept = known.password_hash if known else None
    if not services().passwords.verify(
        kept, request.form.get("current", "")[: LONGEST_PASSWORD + 1]
    ):
        return _account("That is not your present password.")
    password = request.form.get("password", "")
    problem = _problem_with_password(password, user.email)
    if problem:
        return _account(problem)
    services().users.set_password(user.id, services().passwords.hash(password))
    services().sessions.end_others(user.id, keep=token_hash() or b"")
    structlog.get_logger().info("user.password_changed", user=user.id)
    response = redirect(url_for("accounts.account", done="password"), HTTPStatus.SEE_OTHER)
    sign_in(response, user)
    return response


@blueprint.post("/account/sign-out-others")
def sign_out_others() -> Answer:
    """End the log-ins in all other browsers."""
    services().sessions.end_others(_user().id, keep=token_hash() or b"")
    return redirect(url_for("accounts.account", done="elsewhere"), HTTPStatus.SEE_OTHER)


def _problem_with(email: str) -> str | None:
    local, at, host = email.rpartition("@")
    is_shaped = bool(at and local and "." in host) and len(email) <= LONGEST_EMAIL
    is_clean = email.isprintable() and not set(email) & set(' "<>(),;:\\')
    return None if is_shaped and is_clean else BAD_EMAIL


def _problem_with_password(password: str, email: str) -> str | None:
    if password.strip().lower() == email:
        return SAME_AS_EMAIL
    try:
        services().passwords.check(password)
    except Refused as refused:
        return str(refused)
    return None


def _email() -> str:
    return request.form.get("email", "").strip().lower()


def _user() -> User:
    user = current_user()
    if user is None:
        raise Forbidden("sign in first")
    return user


def _next() -> str:
    return safe_path(request.values.get("next"), url_for("search.home"))


def _begin(user: User) -> Answer:
    response = redirect(_next(), HTTPStatus.SEE_OTHER)
    sign_in(response, user)
    structlog.get_logger().info("login.succeeded", user=user.id)
    return response


def _form(template: str, problem: str | None = None, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    page = render_template(
        template,
        problem=problem,
        next=_next(),
        email=request.form.get("email", "")[:LONGEST_EMAIL],
        shortest=SHORTEST_PASSWORD,
    )
    return make_response(page, status)


def _account(problem: str | None = None) -> Answer:
    done = DONE.get(request.args.get("done", ""))
    every = site().schedule_every
    page = render_template(
        "account.html",
        problem=problem,
        done=done,
        shortest=SHORTEST_PASSWORD,
        watched=services().watches.of(_user().id, MOST_WATCHED),
        most_watched=MOST_WATCHED,
        window=lasting(site().stale_window),
        schedule=lasting(every) if every else None,
    )
    return make_response(page, HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK)
