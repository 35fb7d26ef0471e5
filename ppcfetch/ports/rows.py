"""Job rows and page writes: the truth of the lease protocol."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.job import Checkpoint, Job, Pool
from ppcfetch.model.lease import Holder, Lease, Refused
from ppcfetch.model.outcome import Outcome


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

    def admit(self, again: Collection[int] = ()) -> Sequence[tuple[int, Pool]]:
        """Let in queued jobs that wait for their turn, as many as there is room for.

        Round robin by who asked: whoever has the fewest jobs let in comes first, in his own line
        the one that is due longest, and of one fetch no more parts than may be on their way.
        Shape: those that were let in, and of `again` those that are let in, due and in no hand:
        they should ring now, in id order.
        """
        ...

    def unrung(self, after: tuple[int, int] | None, count: int) -> Sequence[tuple[int, Pool]]:
        """Give admitted rows that are due and running ones without a beat for a lease.

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


@dataclass(frozen=True, slots=True)
class Progress:
    """What one committed page changed.

    Shape: job is as after the page; new and changed count ads of this page only.
    """

    job: Job
    new: int
    changed: int
    ended: bool


class Pages(Protocol):
    """The fenced write of archive pages."""

    def write_page(
        self,
        lease: Lease,
        page: ArchivePage,
        checkpoint: Checkpoint,
        parts: Sequence[Query] = (),
    ) -> Progress:
        """Store one archive page and its checkpoint, or nothing, in one transaction.

        lease.job must be as after its last committed page. Without a next cursor the job ends
        here, and the fetch with it when it was the last active job. With parts it ends here, too,
        and for each of them a bulk job of the same fetch waits for its turn. Repeating a write
        whose answer was lost stores nothing twice and gives the same progress.
        Raises: LeaseLost when the job has been leased again: stop, do not retry.
        """
        ...
