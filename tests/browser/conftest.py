"""A Chromium, and what it opens: a whole plant of programs, or sites on made answers."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import WSGIRequestHandler, make_server

from tests.e2e.plant import Plant
from tests.servers import require
from tests.site import FakeSite

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

Serve = Callable[[FakeSite], str]


class SilentHandler(WSGIRequestHandler):
    """Answers without a line on standard error for each request."""

    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser of this test process; each test opens its own window."""
    require("Debian's chromium", found=CHROMIUM.is_file())
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def plant(database_url: str, redis_url: str, tmp_path: Path) -> Iterator[Plant]:
    """Servers, emulator and site; a test starts the workers."""
    made = Plant(tmp_path, database_url, redis_url)
    try:
        made.start_archive()
        made.start_site()
        yield made
    finally:
        made.stop()


@pytest.fixture
def page(browser: Browser, plant: Plant) -> Iterator[Page]:
    """A window on the plant's site."""
    context = browser.new_context(base_url=plant.site)
    yield context.new_page()
    context.close()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Puts sites on free ports of loopback while the test lasts; gives their addresses."""
    servers = []

    def start(site: FakeSite) -> str:
        server = make_server("localhost", 0, site.app, threaded=True, request_handler=SilentHandler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://localhost:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
