"""The site as gunicorn runs it."""

import atexit
from contextlib import ExitStack
from pathlib import Path

from flask import Flask

from ppcfetch.adapters import logs
from ppcfetch.bootstrap.addresses import PUBLIC_ARCHIVE, is_invented, secret_key
from ppcfetch.bootstrap.site import SitePorts, open_site
from ppcfetch.settings import Settings, load_settings
from web import create_app
from web.checks import Checks
from web.config import SiteConfig
from web.services import Services

CONFIGURATION = Path(__file__).with_name("gunicorn_conf.py")
EMULATED_EXAMPLES = (
    "bluebird-outdoor.example",
    "meridian-travel.example",
    "xn--bcherstube-9db.example",
    "ads-2350.example",
    "quiet-orchard.example",
)
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
OWN_HOSTS = {"localhost", "127.0.0.1", "::1"}


def gunicorn_arguments(host: str, port: int, *, workers: int, threads: int) -> list[str]:
    """Give gunicorn's command line; what no start changes is in the configuration file."""
    place = f"[{host}]" if ":" in host else host
    return [
        "--config",
        str(CONFIGURATION),
        "--bind",
        f"{place}:{port}",
        "--workers",
        str(workers),
        "--threads",
        str(threads),
        f"web.serve:application(threads={threads})",
    ]


def application(threads: int = 8) -> Flask:
    """Give the site on real ports, which are closed when the process ends.

    Raises: ConfigurationError when it cannot work as it is set up.
    """
    logs.configure(process="web")
    settings = load_settings()
    stack = ExitStack()
    atexit.register(stack.close)
    ports = stack.enter_context(open_site(settings, threads=threads))
    checks = Checks(ports.database_facts, ports.stream_epoch)
    stack.callback(checks.close)
    app = create_app(services_of(ports, checks), config_of(settings, ports.limiter))
    for template in app.jinja_env.list_templates():
        app.jinja_env.get_template(template)  # compiled now, not while the first visitor waits
    return app


def services_of(ports: SitePorts, checks: Checks) -> Services:
    """Give the site's services on real ports."""
    return Services(
        catalogue=ports.catalogue,
        request_refresh=ports.request_refresh,
        cancel=ports.fetches.cancel,
        users=ports.users,
        sessions=ports.sessions,
        passwords=ports.passwords,
        watches=ports.watches,
        followers=ports.followers,
        health=checks,
        walks=ports.walks,
    )


def config_of(settings: Settings, limiter_storage: str) -> SiteConfig:
    """Give the site's own settings out of everybody's.

    Shape: who listens on loopback only and names no hosts is asked under loopback names only,
    so that no page from elsewhere can pass for it.
    """
    invented = is_invented(settings)
    named = tuple(filter(None, map(str.strip, settings.trusted_hosts.split(","))))
    return SiteConfig(
        secret_key=secret_key(settings),
        https=settings.https,
        trusted_hosts=named or (LOOPBACK if settings.host in OWN_HOSTS else ()),
        proxy_hops=settings.proxy_hops,
        stale_window=settings.stale_after,
        reach=settings.reach,
        limiter_storage=limiter_storage,
        archive_site=None if invented else PUBLIC_ARCHIVE,
        invented=invented,
        examples=EMULATED_EXAMPLES if invented else (),
        fetches_at_once=settings.fetches_at_once,
        schedule_every=settings.schedule_every,
    )
