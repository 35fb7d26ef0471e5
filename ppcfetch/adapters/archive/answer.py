"""The archive's answer as it stands on the wire: numbered keys, given names and types.

Source: recordings of the archive's web page. 64-bit numbers are strings there, flags are true
or absent, and any key may be missing.
"""

import json
import re
from typing import NoReturn

import msgspec
from msgspec import field

from ppcfetch.errors import ArchiveChanged, ArchiveUnavailable

_GUARD = b")]}'"
"""A line that some Google services put before JSON against being run as a script."""


class Moment(msgspec.Struct, gc=False, frozen=True):
    """A time: seconds since 1970 and nanoseconds."""

    seconds: str | None = field(name="1", default=None)
    nanos: int | None = field(name="2", default=None)


class Linked(msgspec.Struct, gc=False, frozen=True):
    """Content behind an address: a script, or an older kind of video ad."""

    address: str | None = field(name="4", default=None)


class Inline(msgspec.Struct, gc=False, frozen=True):
    """Content written out: an ``<img>`` of the archived picture."""

    markup: str | None = field(name="2", default=None)


class Content(msgspec.Struct, gc=False, frozen=True):
    """One of three shapes is filled."""

    script: Linked | None = field(name="1", default=None)
    older: Linked | None = field(name="2", default=None)
    inline: Inline | None = field(name="3", default=None)


class Row(msgspec.Struct, gc=False, frozen=True):
    """One ad as the archive lists it."""

    advertiser: str | None = field(name="1", default=None)
    creative: str | None = field(name="2", default=None)
    content: Content | None = field(name="3", default=None)
    format: int | None = field(name="4", default=None)
    first_shown: Moment | None = field(name="6", default=None)
    last_shown: Moment | None = field(name="7", default=None)
    name: str | None = field(name="12", default=None)
    days: int | None = field(name="13", default=None)
    domain: str | None = field(name="14", default=None)


class Answer(msgspec.Struct, gc=False, frozen=True):
    """One page, or what the archive says instead.

    Shape: a row that is no object is None; upper and status are numbers in error bodies, where
    cursor is a message.
    """

    rows: list[Row | None] | None = field(name="1", default=None)
    cursor: str | None = field(name="2", default=None)
    lower: str | None = field(name="4", default=None)
    upper: str | int | None = field(name="5", default=None)
    status: int | None = field(name="9", default=None)


_DECODER = msgspec.json.Decoder(Answer)


class EmptyBody(ArchiveUnavailable):
    """A body without a byte: no answer at all, and never "no ads"."""


def decode(body: bytes) -> Answer:
    """Give the checked answer.

    Raises: EmptyBody; ArchiveUnavailable for what is no whole JSON text; ArchiveChanged, with the
    path of the field, for JSON that is not of this shape.
    """
    text = body.strip().removeprefix(_GUARD).strip()
    if not text:
        raise EmptyBody("the archive's answer is empty: not even {}, which it gives for no ads")
    try:
        return _DECODER.decode(text)
    except RecursionError as exc:
        _refuse_depth(exc)
    except msgspec.DecodeError as exc:
        return _decode_tolerantly(text, exc)


def _decode_tolerantly(text: bytes, first: msgspec.DecodeError) -> Answer:
    """Read once more what may be legal JSON: odd rows as None, escapes of half a character kept."""
    try:
        found = json.loads(text.decode(), parse_constant=_refuse)
    except RecursionError as exc:
        _refuse_depth(exc)
    except ValueError:
        _translate(first)
    if isinstance(found, dict) and isinstance(rows := found.get("1"), list):
        found["1"] = [row if isinstance(row, dict) else None for row in rows]
    try:
        return msgspec.convert(found, Answer)
    except msgspec.ValidationError as exc:
        _translate(exc)


def _refuse_depth(error: RecursionError) -> NoReturn:
    raise ArchiveChanged("the archive's answer is nested too deeply", field="body") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _translate(error: msgspec.DecodeError) -> NoReturn:
    if not isinstance(error, msgspec.ValidationError):
        raise ArchiveUnavailable("the archive's answer is cut or damaged JSON") from error
    what, _, path = str(error).partition(" - at ")
    name = re.sub(r"^\$\.?", "", path.strip("`")) or "body"
    message = f"the archive's field {name} is not as expected: {what}"
    raise ArchiveChanged(message, field=name) from error
