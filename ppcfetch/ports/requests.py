"""Fetch rows, and following them from outside."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchReason, Reach
from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Deed


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks for when he wants a domain refreshed.

    Shape: force asks even when the domain is fresh; limit is the most active fetches that
    asked_by may have at once, None for no limit.
    """

    domain: DomainName
    reason: FetchReason
    asked_by: int | None = None
    force: bool = False
    window: timedelta = timedelta(0)
    limit: int | None = None
    reach: Reach = field(default_factory=Reach)


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer to a request: the fetch, the jobs to ring for, and whether it was joined."""

    fetch: Fetch
    jobs: tuple[tuple[int, Pool], ...]
    joined: bool


@dataclass(frozen=True, slots=True)
class Revived:
    """A dead job that is queued again in its pool, and the jobs to ring for by the way."""

    pool: Pool
    jobs: tuple[tuple[int, Pool], ...]


class Fetches(Protocol):
    """Fetch rows: the requests, which are never lost once answered."""

    def request(self, request: Request) -> Asked:
        """Store a request with its first job in one transaction, or join the active fetch.

        Shape: the jobs to ring for are those that were let in by the way, whosever they are.

        Raises: Refused when the domain is fresh and force is off, or the limit is reached.
        """
        ...

    def get(self, fetch_id: int) -> Fetch:
        """Give a fetch. Raises: NotFound."""
        ...

    def cancel(self, fetch_id: int) -> bool:
        """End an active fetch now: jobs cancelled with fence + 1 in id order, then the fetch.

        Shape: False when it was not active. What was read stays.
        """
        ...

    def retry(self, job_id: int, deed: Deed | None = None) -> Revived:
        """Queue a dead job again with no starts and attempts, its fetch reopened with it.

        It waits for its turn; the jobs to ring for are those that were let in by the way.
        The deed is noted in the same transaction; a discarded job is taken out of its drawer.
        Raises: NotFound when no such dead job; Refused when another fetch of the domain is
        active, or a newer one has read it: ask for a new one then.
        """
        ...

    def discard(self, job_id: int, deed: Deed) -> bool:
        """Put a dead job aside and note the deed in one transaction; it stays dead.

        Shape: False when it was put aside before. Raises: NotFound when no such dead job.
        """
        ...


@dataclass(frozen=True, slots=True)
class DomainSummary:
    """What a list of advertisers needs of a domain after a fetch."""

    ads: int
    advertisers: Sequence[tuple[str, str | None, int]]


class Watching(Protocol):
    """Following one fetch from outside, read only."""

    def fetch(self, fetch_id: int) -> Fetch:
        """Give the fetch as it is now. Raises: NotFound."""
        ...

    def summary(self, domain: DomainName) -> DomainSummary:
        """Give the domain's counters. Raises: NotFound."""
        ...
