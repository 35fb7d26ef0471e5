"""Answers that are no page: which error of ours each one is."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from ppcfetch.adapters.archive.exchange import Reply
from ppcfetch.adapters.archive.wire import error_text, one_line
from ppcfetch.errors import (
    ArchiveBlocked,
    ArchiveRejected,
    ArchiveThrottled,
    ArchiveUnavailable,
)

LONGEST_DELAY = timedelta(hours=1)

_LONGEST_HEADER = 64
_WALLS = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.PROXY_AUTHENTICATION_REQUIRED,
        HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS,
    }
)
_AUTHORITY = re.compile(r"(?:https?:)?//(?:[^/?#\\]*@)?([^/?#\\@]*)", re.IGNORECASE)


def refuse(reply: Reply, *, now: datetime) -> None:
    """Raise unless the answer may be a page.

    Units: now is aware UTC; a delay that the archive asks for is cut to an hour.
    Raises: ArchiveBlocked, ArchiveThrottled, ArchiveRejected, ArchiveUnavailable.
    """
    status = reply.status
    if status == HTTPStatus.OK:
        _refuse_html(reply)
    elif HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        raise ArchiveBlocked(f"the archive sends us elsewhere ({status}{_target(reply)})")
    elif status in _WALLS:
        raise ArchiveBlocked(f"the archive refuses this address ({status})")
    elif status == HTTPStatus.TOO_MANY_REQUESTS:
        delay = retry_after(reply.headers.get("retry-after"), now=now)
        raise ArchiveThrottled(f"the archive asks for fewer calls ({status})", retry_after=delay)
    elif status == HTTPStatus.BAD_REQUEST:
        raise ArchiveRejected(f"the archive rejects the request: {error_text(reply.body)}")
    else:
        delay = retry_after(reply.headers.get("retry-after"), now=now)
        raise ArchiveUnavailable(f"the archive answers with status {status}", retry_after=delay)


def retry_after(value: str | None, *, now: datetime) -> timedelta | None:
    """Give the delay of a Retry-After header, None when there is none that can be read."""
    if value is None or len(value) > _LONGEST_HEADER:
        return None
    value = value.strip()
    if re.fullmatch(r"-?[0-9]{1,18}", value):
        seconds = min(int(value), LONGEST_DELAY.total_seconds())
        return timedelta(seconds=max(seconds, 0))
    try:
        instant = parsedate_to_datetime(value)
        delay = (instant if instant.tzinfo else instant.replace(tzinfo=UTC)) - now
    except (ValueError, OverflowError):
        return None
    return min(max(delay, timedelta(0)), LONGEST_DELAY)


def _refuse_html(reply: Reply) -> None:
    kind = reply.headers.get("content-type", "").strip().lower()
    if reply.body.lstrip()[:1] == b"<" or (kind.startswith("text/html") and not _is_json(reply)):
        raise ArchiveBlocked("the archive answers with a web page instead of data")


def _is_json(reply: Reply) -> bool:
    """Tell whether the body looks like data in spite of its content type."""
    return reply.body.lstrip().removeprefix(b")]}'").lstrip()[:1] in {b"", b"{"}


def _target(reply: Reply) -> str:
    """Give the host that a redirect names; never its query, which may name ours."""
    found = _AUTHORITY.match(reply.headers.get("location", ""))
    return f" to {one_line(found[1], 80)}" if found else ""
