"""Ask for a domain to be refreshed: the row first, then the doorbell."""

import structlog

from ppcfetch.errors import StreamUnavailable
from ppcfetch.ports import Asked, Doorbell, Fetches, Request


def request_refresh(request: Request, *, fetches: Fetches, doorbell: Doorbell) -> Asked:
    """Give the fetch that will refresh the domain: a new one, or the active one joined.

    Once this returns, the request is in the database and cannot be lost: when Redis is away
    the doorbell stays silent and a sweeper rings it later.
    Raises: Refused when the domain is fresh or the asker has too many active fetches;
    DatabaseUnavailable when nothing is known to be stored.
    """
    asked = fetches.request(request)
    log = structlog.get_logger().bind(
        fetch=asked.fetch.id, domain=str(request.domain), reason=str(request.reason)
    )
    log.info("fetch.joined" if asked.joined else "fetch.requested", asked_by=request.asked_by)
    try:
        doorbell.publish(asked.jobs)
    except StreamUnavailable as silent:
        log.warning("doorbell.silent", error=str(silent))
    return asked
