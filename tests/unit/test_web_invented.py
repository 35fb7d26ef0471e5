"""What the site is told of its surroundings: nothing invented passes for the archive's own."""

import fcntl
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from ppcfetch.adapters.embedded import running
from ppcfetch.adapters.embedded.running import Addresses
from ppcfetch.bootstrap.addresses import PUBLIC_ARCHIVE
from ppcfetch.settings import Settings
from tests.site import DOMAIN, SITE, FakeSite
from web.serve import config_of

NOTICE = "Invented data: this site asks an emulated archive."
GOOGLE = "Google’s public ad archive"
PATHS = ("/", "/about/data", "/login", f"/domains/{DOMAIN}", "/nowhere")


def settings_of(folder: Path, **given: object) -> Settings:
    values = {
        "data_dir": folder,
        "database_url": "postgresql://localhost/none",
        "redis_url": "redis://localhost",
        "secret_key": "x" * 32,
    }
    return Settings(_env_file=None, **(values | given))  # type: ignore[arg-type]  # pydantic checks them


@pytest.mark.parametrize("path", PATHS)
def test_every_page_on_an_emulated_archive_says_so(path: str) -> None:
    page = FakeSite(replace(SITE, invented=True)).visitor().get(path).text

    assert NOTICE in page
    assert "<span>Data: an emulated archive, invented</span>" in page
    assert GOOGLE not in page.replace(f"an emulator of {GOOGLE}", "")


@pytest.mark.parametrize("path", PATHS)
def test_no_page_on_the_public_archive_calls_its_data_invented(path: str) -> None:
    page = FakeSite().visitor().get(path).text

    assert "nvented" not in page
    assert f"<span>Data: {GOOGLE}</span>" in page


@pytest.mark.parametrize(
    ("address", "said", "invented"),
    [
        ("http://archive:8100", None, True),
        (PUBLIC_ARCHIVE, None, False),
        (f"{PUBLIC_ARCHIVE}/", None, False),
        ("https://adstransparency.google.com.elsewhere.example", None, True),
        # an address that leads to the public archive in the end
        ("http://relay.example", False, False),
        (PUBLIC_ARCHIVE, True, True),
        # a site that was not told of any archive
        (None, None, False),
    ],
)
def test_an_address_that_is_not_the_public_archives_is_an_emulators_unless_it_is_said(
    tmp_path: Path, address: str | None, *, said: bool | None, invented: bool
) -> None:
    settings = settings_of(tmp_path, archive_url=address, archive_emulated=said)

    site = config_of(settings, "memory://")

    assert site.invented is invented
    assert (site.archive_site is None) is invented


def test_the_site_knows_whether_watched_domains_are_read_by_schedule(tmp_path: Path) -> None:
    often = config_of(settings_of(tmp_path, schedule_hours=6), "memory://")
    never = config_of(settings_of(tmp_path), "memory://")

    assert (often.schedule_every, never.schedule_every) == (timedelta(hours=6), None)


def test_the_embedded_emulator_is_one_whatever_is_said(tmp_path: Path) -> None:
    running.announce(tmp_path, Addresses("", "", "http://127.0.0.1:1", emulated=True))
    with (tmp_path / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        site = config_of(settings_of(tmp_path, archive_emulated=False), "memory://")

    assert site.invented
