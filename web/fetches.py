"""The permanent record of one fetch."""

from collections.abc import Sequence

from flask import Blueprint, render_template

from ppcfetch.errors import NotFound
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchReason, FetchState
from ppcfetch.model.job import JobState
from ppcfetch.model.job_view import JobView
from web.figures import total_in_words
from web.identity import current_user, services

LARGEST_ID = 2**63 - 1

OUTCOMES = {
    FetchState.ACTIVE: "It is under way.",
    FetchState.DONE: "It read everything that the archive lists for the domain.",
    FetchState.PARTIAL: "It read a part; the rest could not be read. What was read was kept.",
    FetchState.FAILED: "It could not read the archive.",
    FetchState.CANCELLED: "It was stopped on request. What was read until then was kept.",
}
REASONS = {
    FetchReason.PERSON: "by somebody who opened the page",
    FetchReason.COMMAND: "by an operator’s command",
    FetchReason.IMPORT: "by an import",
    FetchReason.SCHEDULE: "by a schedule",
}
WALKS = {
    JobState.QUEUED: "waits",
    JobState.RUNNING: "is read now",
    JobState.DONE: "read",
    JobState.DEAD: "could not be read",
    JobState.CANCELLED: "stopped",
}

blueprint = Blueprint("fetches", __name__)


@blueprint.get("/domains/<domain>/fetches/<int:fetch_id>")
def show(domain: str, fetch_id: int) -> str:
    """Show when a fetch was asked for and why, how it went and what it found."""
    name = DomainName.parse(domain)
    if fetch_id > LARGEST_ID:
        raise NotFound("no such fetch")
    fetch = services().catalogue.fetch(fetch_id)
    if fetch.domain != name:
        raise NotFound("no such fetch of this domain")
    return render_template(
        "fetch.html",
        fetch=fetch,
        domain=name.name,
        shown=name.unicode,
        asked=name.unicode,
        outcome=OUTCOMES[fetch.state],
        reason=_reason(fetch),
        walks=_told(services().walks(fetch.id)),
        total=total_in_words(fetch.total, fetch)
        .removeprefix("archive says ")
        .removeprefix("archive gave "),
    )


def _told(jobs: Sequence[JobView]) -> Sequence[tuple[str, str, int]]:
    """Give which ads each walk reads, how it does and its pages; nothing of one in one go."""
    split = {job.parent_id for job in jobs if job.parent_id is not None}
    if not split:
        return ()
    return [
        (job.part, "split into parts" if job.id in split else WALKS[job.state], job.pages)
        for job in jobs
    ]


def _reason(fetch: Fetch) -> str:
    user = current_user()
    if user is not None and fetch.asked_by == user.id:
        return "by you"
    return REASONS[fetch.reason]
