"""What the use cases need from the outside, and what every adapter must keep to.

Every method may raise DatabaseUnavailable (stores) or StreamUnavailable (stream ports): then
nothing is known about the call, and each may be repeated safely unless its text says otherwise.
Times are aware UTC and come from the database clock, except where a port says otherwise.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from ppcfetch.errors import Retryable
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchReason
from ppcfetch.model.job import Checkpoint, Job, Pool
from ppcfetch.model.lease import Delivery, Holder, Lease, Refused, Token
from ppcfetch.model.outcome import Outcome


class Clock(Protocol):
    """Time inside one process; never compared between processes."""

    def monotonic(self) -> float:
        """Give seconds that only grow; their zero means nothing."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    def random(self) -> float:
        """Give a number from 0 to 1 for jitter."""
        ...


class Archive(Protocol):
    """The public ad archive."""

    def page(self, query: Query, cursor: str | None) -> ArchivePage:
        """Ask for one page of a walk; cursor None is the first one.

        Raises: ArchiveUnavailable, ArchiveThrottled, ArchiveBlocked, ArchiveRejected,
        ArchiveChanged. Never asks twice and never waits beyond its own deadline.
        """
        ...


class Pace(Protocol):
    """How often the archive may be asked, shared by all workers, and when it must rest."""

    def ask(self, pool: Pool) -> timedelta:
        """Count one call and give zero, or count nothing and give how long to wait first."""
        ...

    def went_well(self) -> None:
        """Tell that a call was answered; recovers the pace slowly and closes the breaker."""
        ...

    def went_badly(self, error: Retryable) -> timedelta | None:
        """Tell of a failed call; gives how long nobody may call, None when calls may go on."""
        ...


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


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer to a request: the fetch, the jobs to ring for, and whether it was joined."""

    fetch: Fetch
    jobs: tuple[tuple[int, Pool], ...]
    joined: bool


class Fetches(Protocol):
    """Fetch rows: the requests, which are never lost once answered."""

    def request(self, request: Request) -> Asked:
        """Store a request with its first job in one transaction, or join the active fetch.

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

    def retry(self, job_id: int) -> tuple[int, Pool]:
        """Queue a dead job again with no starts and attempts, its fetch reopened with it.

        Raises: NotFound when no such dead job; Refused when a newer fetch supersedes it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Taking:
    """One delivery's wish for a lease; request makes asking again with the same value free."""

    job_id: int
    request: str


class Jobs(Protocol):
    """Job rows under the lease protocol. All times are judged by the database clock."""

    def next_incarnation(self) -> int:
        """Give a number that no process had before and every later one exceeds."""
        ...

    def take(
        self, takings: Sequence[Taking], *, holder: Holder, pool: Pool
    ) -> Mapping[int, Lease | Refused]:
        """Lease jobs in one statement: fence + 1, starts + 1, beaten now.

        Allowed when the row is queued, due and of this pool; running under an older incarnation
        of this name; or running without a beat for a lease. A job whose starts are used up
        becomes dead in the same statement. Shape: one answer for each job id asked for.
        """
        ...

    def beat(self, leases: Sequence[Lease]) -> frozenset[int]:
        """Note in one statement that the leases are alive; gives the job ids still held."""
        ...

    def give_back_starts(self, leases: Sequence[Lease]) -> None:
        """Take back the start of each lease, once, in one fenced statement, before a hand back."""
        ...

    def settle(self, outcomes: Sequence[tuple[Lease, Outcome]]) -> frozenset[int]:
        """Write outcomes in one transaction, each fenced; gives the job ids whose row was ours.

        A job that dies closes its fetch when it was the last active one. `Done` finishes a job
        that has not been finished by its last page. `Leave` must not be passed.
        """
        ...

    def vetoed(self, job_ids: Collection[int]) -> frozenset[int]:
        """Give those that are running and beaten within a lease: nobody may claim them."""
        ...


class Due(Protocol):
    """What the sweeper asks of the database."""

    def take_turn(self, holder: Holder, length: timedelta) -> bool:
        """Take or keep the one sweeper's turn: a row that expires by the database clock."""
        ...

    def unrung(self, after: tuple[int, int] | None, count: int) -> Sequence[tuple[int, Pool]]:
        """Give queued rows that are due and running ones without a beat for a lease.

        Shape: interactive first, oldest first, at most count, behind the one given by `after`
        (pool rank, job id); empty at the end.
        """
        ...

    def close_idle_fetches(self) -> int:
        """End active fetches that have no active job; gives how many."""
        ...

    def prune(self) -> int:
        """Delete page log, ended jobs, ended fetches and sessions past their keeping time."""
        ...

    def epoch(self) -> str:
        """Give the value that Redis must bear; it never changes."""
        ...


class Pages(Protocol):
    """The fenced write of archive pages."""

    def write_page(self, lease: Lease, page: ArchivePage, checkpoint: Checkpoint) -> "Progress":
        """Store one archive page and its checkpoint, or nothing, in one transaction.

        lease.job must be as after its last committed page. Without a next cursor the job ends
        here, and the fetch with it when it was the last active job. Repeating a write whose
        answer was lost stores nothing twice and gives the same progress.
        Raises: LeaseLost when the job has been leased again: stop, do not retry.
        """
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """What one committed page changed.

    Shape: job is as after the page; new and changed count ads of this page only.
    """

    job: Job
    new: int
    changed: int
    ended: bool


class Doorbell(Protocol):
    """Publishing: the stream holds at most one live message a job."""

    def publish(self, jobs: Sequence[tuple[int, Pool]]) -> int:
        """Ring for jobs that have no live message; gives how many messages were added.

        Safe to repeat, by anybody, at any time.
        """
        ...


class Deliveries(Protocol):
    """One consumer's end of one pool's stream."""

    def receive(self, count: int, block: timedelta) -> Sequence[Delivery]:
        """Wait for new messages, at most count; empty when none came.

        Not safe to repeat: what a lost answer held stays pending under our name until
        `reconcile` finds it.
        """
        ...

    def accept(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Keep those whose token is still ours, idle set to 0, directly before `take`.

        Raises: NameLost when another process bears our name.
        """
        ...

    def history(self, after: str, count: int) -> Sequence[Delivery]:
        """Claim own pending entries behind the id `after`, from "0" on; empty at the end.

        Raises: NameLost.
        """
        ...

    def reconcile(self, in_hand: Collection[str], count: int) -> Sequence[Delivery]:
        """Claim own pending entries idle for a lease that no slot holds. Raises: NameLost."""
        ...

    def abandoned(self, after: str, count: int) -> Sequence[Delivery]:
        """Look, without claiming, at others' entries idle for a lease, behind the id `after`."""
        ...

    def claim(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Claim those still idle for a lease; of two rescuers one wins. Raises: NameLost."""
        ...


class Settling(Protocol):
    """Ends of deliveries; each does nothing unless the token is still ours."""

    def renew(self, tokens: Sequence[Token]) -> frozenset[str]:
        """Set the entries that bear our token to idle 0; gives the message ids renewed."""
        ...

    def settle(self, deliveries: Sequence[Delivery]) -> int:
        """Acknowledge and delete entries and forget them as live; gives how many were ours."""
        ...

    def move(self, deliveries: Sequence[Delivery], pool: Pool) -> int:
        """Publish again in the pool and settle the old entry in one step; gives how many."""
        ...

    def dead_letter(self, delivery: Delivery, reason: str) -> bool:
        """Add to the dead stream, then settle, in one step; False when not ours."""
        ...


class Census(Protocol):
    """What the sweeper asks of the stream, exactly and not by the clock."""

    def epoch(self) -> str | None:
        """Give the value that Redis bears, None when it lost everything."""
        ...

    def restore(self, epoch: str) -> None:
        """Bear the database's value; called after everything active was published."""
        ...

    def ensure_groups(self) -> None:
        """Make the groups at 0 where they are absent; destroys nothing."""
        ...

    def delete_orphans(self) -> int:
        """Delete entries at or before last-delivered-id that nobody has pending."""
        ...

    def forget_consumers(self) -> Sequence[str]:
        """Remove consumers that hold nothing, have been idle a day and whose name is free."""
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


class Run(Protocol):
    """One lease in a worker's hand, as the handler sees it."""

    @property
    def lease(self) -> Lease:
        """The lease as after the last committed page."""
        ...

    def check(self) -> None:
        """Raises: LeaseLost when told so, or when the local deadline has passed."""
        ...

    def advanced(self, progress: Progress) -> None:
        """Note a committed page: the only sign of life that counts."""
        ...


Handler = Callable[[Run], Iterator[Progress | None]]
"""Runs a job: yields each committed page, and None at other moments when it may be stopped."""


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What one sweep did; zero everywhere on a healthy system."""

    published: int = 0
    orphans: int = 0
    closed: int = 0
    pruned: int = 0
    forgotten: int = 0
    rebuilt: bool = False
