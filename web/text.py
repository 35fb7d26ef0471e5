"""Text that strangers wrote and numbers that we counted, made fit to show."""

import unicodedata
from datetime import UTC, datetime, timedelta

from markupsafe import Markup, escape

_HIDDEN = (
    (0x00, 0x1F),
    (0x7F, 0x9F),
    (0x200B, 0x200B),
    (0x200E, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x2064),
    (0x2066, 0x206F),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),
)
_STRIP = dict.fromkeys(code for first, last in _HIDDEN for code in range(first, last + 1))
LONGEST_NAME = 200
UNITS = (
    (timedelta(days=1), "day"),
    (timedelta(hours=1), "hour"),
    (timedelta(minutes=1), "minute"),
)


def plain(text: str | None) -> str:
    """Give a stranger's text without control characters and direction overrides, at most 200 long.

    Source: joiners (U+200C, U+200D) stay, since scripts and emoji need them.
    """
    cleaned = unicodedata.normalize("NFC", (text or "")).translate(_STRIP).strip()
    return cleaned if len(cleaned) <= LONGEST_NAME else cleaned[: LONGEST_NAME - 1] + "…"


def name_or(text: str | None, otherwise: str) -> Markup:
    """Give a stranger's name isolated from the direction of what surrounds it."""
    return Markup("<bdi>{}</bdi>").format(plain(text) or otherwise)


def number(count: int | None) -> str:
    """Give a count with its thousands apart."""
    return "–" if count is None else f"{count:,}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Give a count with its word."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def ago(then: datetime, now: datetime) -> str:
    """Give how long ago something was, in one unit that a person would choose."""
    past = now - then
    for unit, word in UNITS:
        if past >= unit:
            return f"{plural(past // unit, word)} ago"
    return "just now"


def lasting(length: timedelta) -> str:
    """Give a length of time in the largest unit of which it has two or more, else in seconds."""
    if length < timedelta(seconds=1):
        return "under a second"
    for unit, word in UNITS:
        if length >= 2 * unit:
            return plural(round(length / unit), word)
    return f"{round(length.total_seconds())} s"


def day(when: datetime | None) -> str:
    """Give a date as people write it, such as 12 Nov 2026."""
    return "unknown" if when is None else f"{when.astimezone(UTC):%-d %b %Y}"


def time_tag(when: datetime | None, words: str | None = None) -> Markup:
    """Give a moment as a ``<time>`` element with its UTC value as title."""
    if when is None:
        return escape(words or "unknown")
    moment = when.astimezone(UTC)
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        moment.strftime("%Y-%m-%dT%H:%M:%SZ"), moment.strftime("%Y-%m-%d %H:%M"), words or day(when)
    )


def moment(when: datetime | None) -> Markup:
    """Give a moment with its time of day."""
    return time_tag(when, f"{when.astimezone(UTC):%-d %b %Y, %H:%M:%S} UTC" if when else None)
