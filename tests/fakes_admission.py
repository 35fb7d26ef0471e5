"""Whose jobs may have a message next, in memory: as `adapters/database/admission.py`."""

from collections import Counter
from collections.abc import Collection

from ppcfetch.model.job import ACTIVE, JobState, Pool
from tests.fakes_jobs import FakeJobs
from tests.fakes_tables import JobRow


class FakeAdmission(FakeJobs):
    """One job after the other is let in, which says the same as the one statement."""

    def let_in(self) -> list[tuple[int, Pool]]:
        """Let in as many waiting jobs as there is room for."""
        admitted: list[tuple[int, Pool]] = []
        for pool in Pool:
            while self._ready(pool) < self.admission.window:
                row = self._next(pool)
                if row is None:
                    break
                row.admitted = True
                admitted.append((row.job.id, pool))
        return sorted(admitted)

    def ready_again(self, again: Collection[int]) -> list[tuple[int, Pool]]:
        """Give those that are let in, due and in no hand."""
        rows = [self.jobs[job_id] for job_id in again if job_id in self.jobs]
        ready = [row.job for row in rows if row.admitted and self._is_queued_and_due(row)]
        return [(job.id, job.pool) for job in ready]

    def _ready(self, pool: Pool) -> int:
        return sum(
            row.admitted and row.job.pool is pool and self._is_queued_and_due(row)
            for row in self.jobs.values()
        )

    def _next(self, pool: Pool) -> JobRow | None:
        inside = [r for r in self.jobs.values() if r.admitted and r.job.state in ACTIVE]
        askers = Counter(row.asker for row in inside if row.job.pool is pool)
        fetches = Counter(row.job.fetch_id for row in inside)
        waiting = [
            row
            for row in self.jobs.values()
            if not row.admitted
            and row.job.pool is pool
            and self._is_queued_and_due(row)
            and (row.parent_id is None or fetches[row.job.fetch_id] < self.admission.parts)
        ]
        return min(waiting, key=lambda r: (askers[r.asker], r.due_at, r.job.id), default=None)

    def _is_queued_and_due(self, row: JobRow) -> bool:
        return row.job.state is JobState.QUEUED and row.due_at <= self.moment()
