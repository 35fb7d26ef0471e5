"""The site: `create_app` makes it out of what it is handed."""

from datetime import timedelta

from flask import Flask
from flask_wtf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix

from web import (
    about,
    accounts,
    ads,
    assets,
    compression,
    domains,
    errors,
    fetches,
    health,
    identity,
    limits,
    permissions,
    request_log,
    search,
    security,
    watches,
    words,
)
from web.config import SiteConfig
from web.services import Services

LARGEST_BODY = 64 * 1024
MOST_FORM_PARTS = 50
FORM_LIFE = timedelta(hours=12)


def create_app(services: Services, site: SiteConfig) -> Flask:
    """Give the site as a WSGI application; nothing outside is asked before the first request."""
    app = Flask(__name__, static_folder=None)
    app.config.from_mapping(_flask_settings(site))
    app.extensions["ppcfetch.services"] = services
    app.extensions["ppcfetch.site"] = site
    app.extensions["ppcfetch.assets"] = assets.hashed_addresses()
    errors.install(app)
    security.install(app, https=site.https)
    identity.install(app)
    compression.install(app)
    request_log.install(app)
    permissions.install(app)
    CSRFProtect(app)
    words.install(app)
    for part in (about, accounts, ads, domains, fetches, health, search, watches):
        app.register_blueprint(part.blueprint)
    limits.install(app, site.limiter_storage)
    wrapped = assets.serve_static(app.wsgi_app, app.extensions["ppcfetch.assets"], https=site.https)
    hops = site.proxy_hops
    app.wsgi_app = ProxyFix(wrapped, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]
    return app


def _flask_settings(site: SiteConfig) -> dict[str, object]:
    return {
        "SECRET_KEY": site.secret_key,
        "SECRET_KEY_FALLBACKS": list(site.former_secret_keys),
        "TRUSTED_HOSTS": list(site.trusted_hosts) or None,
        "MAX_CONTENT_LENGTH": LARGEST_BODY,
        "MAX_FORM_MEMORY_SIZE": LARGEST_BODY,
        "MAX_FORM_PARTS": MOST_FORM_PARTS,
        # Flask's own session carries the form token and nothing else.
        "SESSION_COOKIE_NAME": "__Host-form" if site.https else "form",
        "SESSION_COOKIE_SECURE": site.https,
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "WTF_CSRF_TIME_LIMIT": int(FORM_LIFE.total_seconds()),
        "WTF_CSRF_SSL_STRICT": False,  # web.security looks at Origin and Sec-Fetch-Site instead
        "PREFERRED_URL_SCHEME": "https" if site.https else "http",
    }
