"""Addresses that lead elsewhere, and those that may be gone back to."""

import re
from urllib.parse import quote

from web.identity import site

OWN_PATH = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*")
LONGEST_PATH = 2_000


def safe_path(text: str | None, otherwise: str) -> str:
    """Give a path of this site, or the other one when the text could lead away.

    Source: browsers take backslashes for slashes and drop tabs, so neither may be in it.
    """
    if text and len(text) <= LONGEST_PATH and OWN_PATH.fullmatch(text):
        return text
    return otherwise


def archive_ad(advertiser_id: str, creative_id: str) -> str | None:
    """Give the archive's own page of an ad, None where there is no archive to visit."""
    of_advertiser = _archive(advertiser_id)
    if of_advertiser is None:
        return None
    return f"{of_advertiser}/creative/{quote(creative_id, safe='')}?region=anywhere"


def archive_advertiser(advertiser_id: str) -> str | None:
    """Give the archive's own page of an advertiser, None where there is no archive to visit."""
    found = _archive(advertiser_id)
    return f"{found}?region=anywhere" if found else None


def _archive(advertiser_id: str) -> str | None:
    base = site().archive_site
    return f"{base}/advertiser/{quote(advertiser_id, safe='')}" if base else None
