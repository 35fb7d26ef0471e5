"""The site of one gunicorn process: the bundle of the composition root made into an application."""

import atexit
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

from flask import Flask

from ppcfetch.adapters import logs
from ppcfetch.bootstrap.addresses import find_addresses, secret_key
from ppcfetch.bootstrap.site import SitePorts, open_site
from ppcfetch.errors import PpcFetchError
from ppcfetch.settings import Settings, load_settings
from web import create_app
from web.config import SiteConfig
from web.services import Health, Services

CONNECTIONS = 8
PATIENCE_SECONDS = 0.5
ARCHIVE_SITE = "https://adstransparency.google.com"
EXAMPLES = (
    "bluebird-outdoor.example",
    "lumina-streaming.example",
    "meridian-travel.example",
)


def application() -> Flask:
    """Give the application that gunicorn serves; its connections are closed with the process."""
    logs.configure(process="web")
    settings = load_settings()
    stack = ExitStack()
    atexit.register(stack.close)
    ports = stack.enter_context(open_site(settings, threads=CONNECTIONS))
    pool = stack.enter_context(ThreadPoolExecutor(2, thread_name_prefix="health"))
    return create_app(_services(ports, pool), _config(settings, ports))


def _services(ports: SitePorts, pool: ThreadPoolExecutor) -> Services:
    return Services(
        catalogue=ports.catalogue,
        request_refresh=ports.request_refresh,
        cancel=ports.fetches.cancel,
        users=ports.users,
        sessions=ports.sessions,
        passwords=ports.passwords,
        health=partial(_health, ports, pool),
    )


def _config(settings: Settings, ports: SitePorts) -> SiteConfig:
    emulated = find_addresses(settings).emulated
    return SiteConfig(
        secret_key=secret_key(settings),
        https=settings.https,
        trusted_hosts=tuple(filter(None, settings.trusted_hosts.split(","))),
        proxy_hops=settings.proxy_hops,
        stale_window=settings.stale_after,
        limiter_storage=ports.limiter,
        archive_site=None if emulated else ARCHIVE_SITE,
        examples=EXAMPLES if emulated else (),
    )


def _health(ports: SitePorts, pool: ThreadPoolExecutor) -> Health:
    """Ask both servers at once, and neither for longer than a prober would wait."""
    schema = pool.submit(_quietly, lambda: _is_current(ports))
    stream = pool.submit(_quietly, lambda: _answers(ports))
    return Health(
        database=_within(schema) is not None,
        schema=_within(schema) is True,
        stream=_within(stream) is True,
    )


def _is_current(ports: SitePorts) -> bool:
    return ports.database_facts().is_fit


def _answers(ports: SitePorts) -> bool:
    ports.stream_epoch()
    return True


def _quietly(ask: Callable[[], bool]) -> bool | None:
    """Give the answer, None when there is none."""
    try:
        return ask()
    except PpcFetchError:
        return None


def _within(answer: Future[bool | None]) -> bool | None:
    try:
        return answer.result(PATIENCE_SECONDS)
    except TimeoutError:
        return None
