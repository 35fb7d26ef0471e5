"""Job rows in memory (port `Jobs`)."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from ppcfetch.model.job import ACTIVE, JobState, Pool
from ppcfetch.model.lease import Holder, Lease, Refusal, Refused
from ppcfetch.model.outcome import Dead, Done, HandBack, Leave, Outcome, Rest, RetryLater, Spill
from ppcfetch.ports import Taking
from tests.fakes_tables import JobRow, Tables


class FakeJobs(Tables):
    """The port `Jobs`."""

    def next_incarnation(self) -> int:
        with self.call():
            return self.next("incarnations")

    def take(
        self, takings: Sequence[Taking], *, holder: Holder, pool: Pool
    ) -> Mapping[int, Lease | Refused]:
        with self.call():
            asked = {taking.job_id: taking.request for taking in takings}
            return {
                job_id: self._take(job_id, request, holder=holder, pool=pool)
                for job_id, request in sorted(asked.items())
            }

    def beat(self, leases: Sequence[Lease]) -> frozenset[int]:
        with self.call():
            held = self._held(leases)
            for row in held.values():
                row.beat_at = self.moment()
            return frozenset(held)

    def give_back_starts(self, leases: Sequence[Lease]) -> None:
        with self.call():
            for row in self._held(leases).values():
                _give_back(row)

    def settle(self, outcomes: Sequence[tuple[Lease, Outcome]]) -> frozenset[int]:
        with self.call():
            ours = {
                lease.job.id: self.jobs[lease.job.id]
                for lease, outcome in outcomes
                if self._is_ours(lease, outcome)
            }
            for lease, outcome in outcomes:
                if lease.job.id in ours and ours[lease.job.id].job.state is JobState.RUNNING:
                    self._write_outcome(ours[lease.job.id], outcome)
            self.close({row.job.fetch_id for row in ours.values()})
            return frozenset(ours)

    def vetoed(self, job_ids: Collection[int]) -> frozenset[int]:
        with self.call():
            rows = {job_id: self.jobs[job_id] for job_id in job_ids if job_id in self.jobs}
            return frozenset(job_id for job_id, row in rows.items() if self.is_held(row))

    def is_held(self, row: JobRow) -> bool:
        """Tell whether the job is running and was beaten within a lease."""
        silent = self.moment() - row.beat_at
        return row.job.state is JobState.RUNNING and silent < self.limits.lease

    def _held(self, leases: Sequence[Lease]) -> dict[int, JobRow]:
        return {
            lease.job.id: self.jobs[lease.job.id]
            for lease in leases
            if lease.job.id in self.jobs
            and self.jobs[lease.job.id].job.fence == lease.fence
            and self.jobs[lease.job.id].job.state is JobState.RUNNING
        }

    def _take(self, job_id: int, request: str, *, holder: Holder, pool: Pool) -> Lease | Refused:
        row = self.jobs.get(job_id)
        if row is None:
            return Refused(job_id, Refusal.UNKNOWN)
        again = (row.request, row.holder) == (request, holder)
        if again and row.job.state is JobState.RUNNING:
            return Lease(row.job, row.job.fence, holder)
        if again and row.job.state is JobState.DEAD:
            return Refused(job_id, Refusal.EXHAUSTED, row.job.pool)
        why = self._refusal(row, holder, pool)
        if why is not None:
            return Refused(job_id, why, row.job.pool)
        return self._lease(row, request, holder)

    def _refusal(self, row: JobRow, holder: Holder, pool: Pool) -> Refusal | None:
        if row.job.state not in ACTIVE:
            return Refusal.SETTLED
        if row.job.state is JobState.QUEUED and not row.admitted:
            return Refusal.NOT_DUE
        if row.job.pool is not pool:
            return Refusal.OTHER_POOL
        if row.job.state is JobState.QUEUED:
            return Refusal.NOT_DUE if row.due_at > self.moment() else None
        successor = (
            row.holder is not None
            and row.holder.consumer == holder.consumer
            and row.holder.incarnation < holder.incarnation
        )
        return Refusal.HELD if self.is_held(row) and not successor else None

    def _lease(self, row: JobRow, request: str, holder: Holder) -> Lease | Refused:
        row.holder, row.request, row.beat_at = holder, request, self.moment()
        row.start_given_back = False
        starts, fence = row.job.starts, row.job.fence + 1
        if starts >= self.limits.max_starts:
            row.change(
                fence=fence,
                state=JobState.DEAD,
                error=f"started {starts} times without storing a page",
            )
            row.finished_at = self.moment()
            self.close([row.job.fetch_id])
            return Refused(row.job.id, Refusal.EXHAUSTED, row.job.pool)
        row.change(fence=fence, state=JobState.RUNNING, starts=starts + 1)
        self.start(row.job.fetch_id)
        return Lease(row.job, fence, holder)

    def _is_ours(self, lease: Lease, outcome: Outcome) -> bool:
        row = self.jobs.get(lease.job.id)
        if row is None or row.job.fence != lease.fence:
            return False
        return row.job.state in {JobState.RUNNING, _state_after(outcome)}

    def _write_outcome(self, row: JobRow, outcome: Outcome) -> None:
        state, delay = _state_after(outcome), timedelta(0)
        if isinstance(outcome, RetryLater | Rest):
            delay = outcome.delay
        if isinstance(outcome, RetryLater | Rest | Dead):
            row.change(error=outcome.error)
        if isinstance(outcome, RetryLater):
            row.change(attempts=row.job.attempts + 1)
        if isinstance(outcome, Spill):
            row.change(pool=Pool.BULK)
        if isinstance(outcome, RetryLater | Rest | Spill):
            row.admitted = False
        row.change(state=state)
        if state is JobState.QUEUED:
            row.due_at = self.moment() + delay
            _give_back(row)
        else:
            row.finished_at = self.moment()


def _give_back(row: JobRow) -> None:
    if not row.start_given_back:
        row.change(starts=max(row.job.starts - 1, 0))
        row.start_given_back = True


def _state_after(outcome: Outcome) -> JobState:
    match outcome:
        case Done():
            return JobState.DONE
        case Dead():
            return JobState.DEAD
        case RetryLater() | Rest() | HandBack() | Spill():
            return JobState.QUEUED
        case Leave(why):
            raise ValueError(f"a lease that is left has no outcome to write: {why}")
