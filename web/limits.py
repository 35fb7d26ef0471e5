"""How often somebody may do what costs us something, counted across all site processes."""

from ipaddress import IPv6Address, ip_address, ip_network

import structlog
from flask import Flask, request
from flask_limiter import Limiter, RequestLimit

from web.identity import current_user

SITE_NETWORK_BITS = 64
KEYS = "{ppcfetch}:limit"
"""Where the counts are in Redis: under the one prefix that our Redis users may touch."""
LONGEST_EMAIL = 254

ROUTES: tuple[tuple[str, str, str], ...] = (
    ("accounts.send_log_in", "20 per minute;100 per hour", "network"),
    ("accounts.send_log_in", "5 per minute;20 per hour", "network and account"),
    ("accounts.send_register", "10 per minute;20 per hour", "network"),
    ("accounts.change_password", "5 per minute;20 per hour", "user"),
    ("domains.refresh", "60 per minute;600 per hour", "user"),
    ("domains.cancel", "60 per minute", "user"),
    ("watches.watch", "60 per minute", "user"),
    ("watches.unwatch", "60 per minute", "user"),
)
"""Route, how often, counted by what. Log-ins are counted before the slow hash; by account only
together with the network, so that nobody can lock an owner out from elsewhere."""


def visitor_network() -> str:
    """Give who is counted when nobody is signed in: the address, for IPv6 its /64 network."""
    text = request.remote_addr or "unknown"
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if isinstance(address, IPv6Address):
        return str(ip_network((address, SITE_NETWORK_BITS), strict=False))
    return text


def network_and_account() -> str:
    """Give the network with the account that a form names, spelled as it is kept."""
    named = request.form.get("email", "").strip().lower()[:LONGEST_EMAIL]
    return f"{visitor_network()} {named}"


def user_or_network() -> str:
    """Give the user, or the network of a visitor."""
    user = current_user()
    return f"user {user.id}" if user else visitor_network()


COUNTED_BY = {
    "network": visitor_network,
    "network and account": network_and_account,
    "user": user_or_network,
}


def install(app: Flask, storage: str) -> None:
    """Count the routes of the table."""
    limiter = _limiter(app, storage)
    for endpoint, limit, by in ROUTES:
        count = limiter.limit(limit, key_func=COUNTED_BY[by])
        app.view_functions[endpoint] = count(app.view_functions[endpoint])  # type: ignore[assignment]  # it may wrap coroutines, too; ours are none


def _limiter(app: Flask, storage: str) -> Limiter:
    """Give the limiter; when its store is away it counts in this process and answers at once."""
    options: dict[str, object] = {}
    if storage.startswith("unix:"):
        storage = f"redis+{storage}"
    if storage.startswith("redis"):
        # No hidden repeats: a limiter that waits for a dead store would be the outage itself.
        options = {
            "socket_connect_timeout": 0.2,
            "socket_timeout": 0.2,
            "retry": None,
            "key_prefix": KEYS,
        }
    return Limiter(
        visitor_network,
        app=app,
        storage_uri=storage,
        storage_options=options,  # type: ignore[arg-type]  # the client takes more than it declares
        strategy="fixed-window",
        headers_enabled=True,
        in_memory_fallback_enabled=True,
        default_limits=[],
        on_breach=_note,
    )


def _note(limit: RequestLimit) -> None:
    structlog.get_logger().warning(
        "http.limited", route=str(request.url_rule), limit=str(limit.limit)
    )
