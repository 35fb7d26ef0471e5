"""Marks: where a list of ads goes on, as text that a link can carry."""

import base64
import binascii
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ppcfetch.model.page import AdSort

LONGEST = 400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ID = re.compile(r"[\x21-\x7e]{1,64}")
_PARTS = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """The place of one ad in an order.

    Shape: shown is None among the ads whose date is unknown, which come last.
    """

    sort: AdSort
    shown: datetime | None
    advertiser_id: str
    creative_id: str

    def encoded(self) -> str:
        """Give the mark as text of letters, digits, hyphens and underlines."""
        shown = None if self.shown is None else (self.shown - _EPOCH) // _MICROSECOND
        parts = [self.sort.value, shown, self.advertiser_id, self.creative_id]
        raw = json.dumps(parts, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def read_mark(text: str | None, sort: AdSort) -> Mark | None:
    """Give the mark that a text stands for, None when it is none of this order's."""
    if text is None or len(text) > LONGEST or not text.isascii():
        return None
    try:
        parts = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True))
        return _mark_of(parts, sort)
    except (binascii.Error, ValueError, OverflowError, RecursionError):
        return None


def _mark_of(parts: object, sort: AdSort) -> Mark | None:
    if not isinstance(parts, list) or len(parts) != _PARTS or parts[0] != sort.value:
        return None
    _, shown, advertiser, creative = parts
    if not (_is_id(advertiser) and _is_id(creative)):
        return None
    if shown is None:
        return Mark(sort, None, advertiser, creative)
    if type(shown) is not int:
        return None
    return Mark(sort, _EPOCH + shown * _MICROSECOND, advertiser, creative)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None
