"""Files and pages stay small, and hold nothing that the policy would block."""

import gzip
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import web
from ppcfetch.model.ad import Ad, AdFormat, Preview, PreviewKind, TotalRange
from ppcfetch.model.fetch import FetchState
from ppcfetch.model.page import AdList, AdvertiserShare, HeldAd
from tests.site import DOMAIN, NOW, FakeSite, a_fetch, a_page
from web.domains import ADS_ON_PAGE

FOLDER = Path(web.__file__).parent
TEMPLATES = sorted((FOLDER / "templates").rglob("*.html"))
KILOBYTE = 1024


def packed(*names: str) -> int:
    return sum(len(gzip.compress((FOLDER / "static" / name).read_bytes(), 9)) for name in names)


def a_full_site() -> FakeSite:
    """Give a site whose domain page is as large as it gets."""
    site = FakeSite()
    shares = tuple(
        AdvertiserShare(f"AR{number:020}", f"Advertiser {number * 7919} Ltd", 100, NOW, NOW)
        for number in range(50)
    )
    preview = Preview(PreviewKind.IMAGE, "https://pictures.example/a", 300, 250)
    ads = tuple(
        HeldAd(
            DOMAIN,
            Ad(
                f"AR{n:020}", f"CR{n * 7919:020}", f"Name {n}", AdFormat.IMAGE, NOW, NOW, n, preview
            ),
            40,
            41,
            None,
        )
        for n in range(ADS_ON_PAGE)
    )
    fetches = (
        a_fetch(FetchState.ACTIVE, id=60, asked_at=NOW),
        *(a_fetch(id=59 - n) for n in range(9)),
    )
    days = {(NOW - timedelta(days=n)).date(): n * 37 % 101 for n in range(371)}
    page = a_page(*fetches, per_day=days, advertisers=shares, total=TotalRange(200, 300))
    site.catalogue.hold(replace(page, formats=dict.fromkeys(AdFormat, 600), advertiser_count=900))
    site.catalogue.lists = AdList(ads, older="m" * 80, newer="n" * 80)
    return site


def test_the_largest_domain_page_stays_small() -> None:
    page = a_full_site().signed_in().get("/domains/bluebird-outdoor.example")

    assert page.text.count('<li class="ad">') == ADS_ON_PAGE
    assert len(gzip.compress(page.data, 6)) <= 20 * KILOBYTE


def test_style_and_scripts_stay_small() -> None:
    assert packed("site.css") <= 6 * KILOBYTE
    assert packed("htmx.min.js", "site.js") <= 18 * KILOBYTE


def test_the_licence_of_what_is_not_ours_is_served_with_it() -> None:
    licence = FakeSite().visitor().get("/static/htmx.LICENSE.txt", buffered=True)

    assert "Zero-Clause BSD" in licence.text


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_hold_nothing_that_the_policy_blocks(template: Path) -> None:
    text = template.read_text()

    assert not re.search(r"\sstyle\s*=", text)
    assert not re.search(r"\son[a-z]+\s*=", text)
    assert not re.search(r"hx-on|js:|javascript:", text)
    assert not re.search(r"<(style|iframe|object|embed|base)\b", text)
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_load_nothing_from_elsewhere_and_trust_nothing(template: Path) -> None:
    text = template.read_text()

    assert "//" not in re.sub(r"https?://www\.w3\.org", "", text)
    assert not re.search(r"\|\s*safe|Markup\(|autoescape", text)


def test_only_the_named_files_write_markup() -> None:
    writers = {path.name for path in FOLDER.glob("*.py") if "Markup(" in path.read_text()}

    assert writers == {"figures.py", "freshness.py", "text.py"}


def test_an_address_changes_with_the_content_it_leads_to() -> None:
    site = FakeSite()
    page = site.visitor().get("/").text
    address = re.search(r'href="(/static/site\.[0-9a-f]{12}\.css)"', page)

    assert address is not None
    assert (
        site.visitor().get(address[1], buffered=True).data
        == (FOLDER / "static" / "site.css").read_bytes()
    )
    assert site.visitor().get("/static/site.css").status_code == 404


def test_the_map_has_no_place_for_style_attributes_in_pages_either() -> None:
    page = a_full_site().visitor().get("/domains/bluebird-outdoor.example").text

    assert not re.search(r"\sstyle=|\son[a-z]+=", page)
