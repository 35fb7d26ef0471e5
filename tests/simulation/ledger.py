"""What really happened, written down beside the servers, and held against the promises."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from ppcfetch.errors import ArchiveRejected
from ppcfetch.model.ad import ArchivePage
from ppcfetch.model.job import Job, Pool
from ppcfetch.model.lease import Lease, Limits
from ppcfetch.model.outcome import Dead, Outcome

MOST_PROBES = 60
"""A start may ask so often what the archive's filters mean, before its first page."""


class BrokenPromise(AssertionError):
    """A seed in which something happened that never may."""


Shown = tuple[datetime | None, datetime | None]


@dataclass
class Ledger:
    """One run's facts.

    Shape: jobs are counted by their id; cost is how many starts the faults so far may have cost
    a job, charges the same with the time until which each may act; progress is the time of the
    last page or of the first start; unreported is when a lease began that nobody has reported to
    have ended; fences is the highest fence that wrote or started.
    """

    limits: Limits
    now: Callable[[], float]
    cost: int = 0
    charges: list[tuple[float, int]] = field(default_factory=list)
    progress: dict[int, float] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    hits: Counter[str] = field(default_factory=Counter)
    acknowledged: set[int] = field(default_factory=set)
    unclear: int = 0
    refused_writes: int = 0
    starts: Counter[int] = field(default_factory=Counter)
    reports: Counter[int] = field(default_factory=Counter)
    retries: Counter[int] = field(default_factory=Counter)
    calls: Counter[int] = field(default_factory=Counter)
    probes: Counter[int] = field(default_factory=Counter)
    answered_with_errors: Counter[int] = field(default_factory=Counter)
    looks: dict[tuple[int, int], Mapping[str, datetime | None]] = field(default_factory=dict)
    complete: int = 0
    commits: Counter[int] = field(default_factory=Counter)
    errors: Counter[int] = field(default_factory=Counter)
    rejected: set[int] = field(default_factory=set)
    fences: dict[int, int] = field(default_factory=dict)
    unreported: dict[int, float] = field(default_factory=dict)
    pages: set[tuple[int, int]] = field(default_factory=set)
    shown: dict[tuple[str, str], Shown] = field(default_factory=dict)
    found: dict[int, set[str]] = field(default_factory=dict)
    fetch_pages: Counter[int] = field(default_factory=Counter)
    slowest: float = 0.0

    def violation(self, what: str) -> None:
        """Note a broken promise; the run ends soon."""
        self.violations.append(what)

    def fault(self, kind: str, *, hit: bool = True, cost: int = 1, until: float) -> None:
        """Note a fault that happens, whether it met work in flight, and how long it may act."""
        self.faults[kind] += 1
        self.hits[kind] += hit
        self.cost += cost
        self.charges.append((until, cost))

    def left(self, process: str, *, began: float) -> None:
        """Note a process that ends itself because a handler ignores being told (L3).

        It needs a cause of its own, and is then one for the starts that it costs: the jobs that
        it could not hand back.
        """
        if not any(cost for until, cost in self.charges if until >= began):
            self.violation(f"L3: {process} left without a cause since {began:.2f}")
        self.cost += 1
        self.charges.append((self.now(), 1))

    def started(self, lease: Lease, pool: Pool) -> None:
        """Note a lease that was given (I3, L3)."""
        job = lease.job
        self.starts[job.id] += 1
        if lease.fence <= self.fences.get(job.id, 0):
            self.violation(f"I3: job {job.id} was leased under fence {lease.fence} twice")
        self.fences[job.id] = lease.fence
        self._look_for_cause(job.id)
        since = self.progress.setdefault(job.id, self.now())
        faults = sum(cost for until, cost in self.charges if until >= since)
        if job.starts - 1 > faults:
            self.violation(f"L3: {faults} faults since its last page cost {job.starts - 1} starts")
        if job.pool is not pool:
            self.violation(f"a worker of pool {pool} runs job {job.id} of pool {job.pool}")

    def _look_for_cause(self, job_id: int) -> None:
        """L3: a lease ends by a report of its holder or by a fault, and by nothing else."""
        before = self.unreported.get(job_id)
        if before is not None and not any(c for until, c in self.charges if until >= before):
            self.violation(f"L3: job {job_id} was leased again without a cause since {before:.2f}")
        self.unreported[job_id] = self.now()

    def reported(self, job_id: int, outcome: Outcome) -> None:
        """Note an outcome that is in the row."""
        self.reports[job_id] += 1
        self.unreported.pop(job_id, None)
        if not isinstance(outcome, Dead) or job_id in self.rejected:
            return
        if self.errors[job_id] < self.limits.max_attempts:
            errors = self.errors[job_id]
            self.violation(f"I7: job {job_id} died of {errors} errors: {outcome.error}")

    def retried(self, job_id: int) -> None:
        """Note that an operator wants a dead job to run again."""
        self.retries[job_id] += 1
        self.rejected.discard(job_id)

    def stored(self, lease: Lease, number: int, page: ArchivePage) -> None:
        """Note a page that was committed (I3, I4)."""
        job = lease.job
        if lease.fence < self.fences.get(job.id, 0):
            self.violation(f"I3: fence {lease.fence} of job {job.id} wrote behind a later one")
        if (job.id, number) in self.pages:
            self.violation(f"I3: page {number} of job {job.id} was stored twice")
        self.pages.add((job.id, number))
        self.commits[job.id] += 1
        self.progress[job.id] = self.now()
        self.errors[job.id] = 0
        self.fetch_pages[job.fetch_id] += 1
        for ad in page.ads:
            key = (job.query.domain.name, ad.creative_id)
            self.found.setdefault(job.fetch_id, set()).add(ad.creative_id)
            first, last = self.shown.get(key, (ad.first_shown, ad.last_shown))
            self.shown[key] = _earlier(first, ad.first_shown), _later(last, ad.last_shown)

    def asked(self, job: Job, *, granted: bool, is_probe: bool = False) -> None:
        """Note a call to the archive (I7, I11)."""
        if not granted:
            self.violation(f"I11: job {job.id} asked the archive without the pace's leave")
        if not is_probe:
            self.calls[job.id] += 1
            return
        self.probes[job.id] += 1
        if job.pages or self.probes[job.id] > MOST_PROBES * self.starts[job.id]:
            probes = self.probes[job.id]
            self.violation(
                f"I7: job {job.id} of {job.pages} pages asked {probes} times out of turn"
            )

    def looked(self, lease: Lease, truth: Mapping[str, datetime | None] | None) -> None:
        """Note what was there to see when a run last asked."""
        if truth is not None:
            self.looks[lease.job.id, lease.fence] = truth

    def completed(
        self, lease: Lease, held: Mapping[str, datetime | None], *, is_one_look: bool
    ) -> None:
        """Hold a fetch that is done against what there was at its last look (I4)."""
        truth = self.looks.get((lease.job.id, lease.fence))
        if truth is None or not is_one_look:
            return
        self.complete += 1
        if held != truth:
            wrong = sorted(held.items() ^ truth.items(), key=str)[:4]
            self.violation(f"I4: fetch {lease.job.fetch_id} is done and differs in {wrong}")

    def answered_badly(self, job_id: int, error: Exception) -> None:
        """Note an error that the archive gave."""
        self.errors[job_id] += 1
        self.answered_with_errors[job_id] += 1
        if isinstance(error, ArchiveRejected):
            self.rejected.add(job_id)


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(one, other) if one and other else one or other


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else one or other
