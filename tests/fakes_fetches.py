"""Fetch rows in memory, and what a sweeper asks (ports `Fetches` and `Due`)."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from ppcfetch.adapters.database.asking import POOLS
from ppcfetch.errors import NotFound, Refused
from ppcfetch.model.ad import Query
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchKind, FetchState, Freshness, asker_of, kind_of
from ppcfetch.model.job import ACTIVE, Checkpoint, Job, JobKind, JobState, Pool
from ppcfetch.model.lease import Holder
from ppcfetch.model.operation import Deed, job_target
from ppcfetch.ports import Asked, Request, Revived
from tests.fakes_admission import FakeAdmission
from tests.fakes_tables import DomainRow, JobRow

RANKS = {Pool.INTERACTIVE: 0, Pool.BULK: 1}
ENDED = frozenset({JobState.DONE, JobState.CANCELLED})


class FakeFetches(FakeAdmission):
    """The port `Fetches`."""

    def request(self, request: Request) -> Asked:
        with self.call():
            active = self._active(request.domain)
            if active is not None:
                asked = self._join(request, active)
            else:
                self._refuse_if_needless(request)
                asked = self._make(request)
            return replace(asked, jobs=(*asked.jobs, *self.let_in()))

    def get(self, fetch_id: int) -> Fetch:
        with self.call():
            if fetch_id not in self.fetches:
                raise NotFound(f"there is no fetch {fetch_id}")
            return self._counted(self.fetches[fetch_id])

    def cancel(self, fetch_id: int) -> bool:
        with self.call():
            for row in self.jobs_of(fetch_id):
                if row.job.state in ACTIVE:
                    row.change(state=JobState.CANCELLED, fence=row.job.fence + 1)
                    row.finished_at = self.moment()
            return bool(self.close([fetch_id]))

    def retry(self, job_id: int, deed: Deed | None = None) -> Revived:
        with self.call():
            row = self.jobs.get(job_id)
            if row is None or row.job.state is not JobState.DEAD:
                raise NotFound(f"there is no dead job {job_id}")
            fetch = self.fetches[row.job.fetch_id]
            newer = [f.id for f in self.fetches.values() if _supersedes(f, fetch)]
            if newer:
                raise Refused(f"superseded by fetch {max(newer)}")
            row.change(state=JobState.QUEUED, starts=0, attempts=0)
            row.due_at, row.finished_at, row.discarded = self.moment(), None, False
            row.admitted = False
            if deed is not None:
                self.keep(deed, job_target(job_id))
            if fetch.state is not FetchState.ACTIVE:
                self.fetches[fetch.id] = replace(
                    fetch, state=FetchState.ACTIVE, finished_at=None, error=None, unseen=None
                )
            return Revived(row.job.pool, tuple(self.let_in()))

    def discard(self, job_id: int, deed: Deed) -> bool:
        with self.call():
            row = self.jobs.get(job_id)
            if row is None or row.job.state is not JobState.DEAD:
                raise NotFound(f"there is no dead job {job_id}")
            if row.discarded:
                return False
            row.discarded = True
            self.keep(deed, job_target(job_id))
            return True

    @staticmethod
    def new_job(job_id: int, fetch_id: int, query: Query, pool: Pool) -> Job:
        """Give a job as it is when it was just queued."""
        return Job(
            id=job_id,
            fetch_id=fetch_id,
            kind=JobKind.WALK,
            pool=pool,
            query=query,
            state=JobState.QUEUED,
            fence=0,
            starts=0,
            attempts=0,
            pages=0,
            checkpoint=Checkpoint(),
        )

    def _counted(self, fetch: Fetch) -> Fetch:
        jobs = self.jobs_of(fetch.id)
        parents = [row.parent_id for row in jobs if row.parent_id is not None]
        return replace(
            fetch,
            parts=len(parents) - len(set(parents)) + bool(parents),
            top_ups=sum(row.job.kind is JobKind.TOP_UP for row in jobs),
        )

    def _active(self, domain: DomainName) -> Fetch | None:
        active = (f for f in self.fetches.values() if f.state is FetchState.ACTIVE)
        return next((fetch for fetch in active if fetch.domain == domain), None)

    def _join(self, request: Request, fetch: Fetch) -> Asked:
        queued = [r for r in self.jobs_of(fetch.id) if r.job.state is JobState.QUEUED]
        if POOLS[request.reason] is Pool.INTERACTIVE and fetch.started_at is None:
            for row in queued:
                row.change(pool=Pool.INTERACTIVE)
                row.asker = asker_of(request.reason, request.asked_by)
        self._follow(fetch.id, request.asked_by)
        due = [r.job for r in queued if r.admitted and r.due_at <= self.moment()]
        rings = tuple((job.id, job.pool) for job in due)
        return Asked(self._counted(fetch), rings, joined=True)

    def _refuse_if_needless(self, request: Request) -> None:
        domain = self.domains.get(request.domain.name)
        if domain is not None and not request.force:
            freshness = Freshness(domain.checked_at, domain.attempted_at)
            if not freshness.is_stale(self.moment(), request.window):
                raise Refused(f"{request.domain} is fresh")
        if request.limit is None or request.asked_by is None:
            return
        active = (f for f in self.fetches.values() if f.state is FetchState.ACTIVE)
        if sum(fetch.asked_by == request.asked_by for fetch in active) >= request.limit:
            raise Refused(f"the limit is {request.limit} active fetches")

    def _make(self, request: Request) -> Asked:
        self.domains.setdefault(request.domain.name, DomainRow())
        fetch = _new_fetch(self.next("fetches"), request, self)
        pool = POOLS[request.reason]
        job = self.new_job(self.next("jobs"), fetch.id, Query(request.domain), pool)
        job = replace(job, checkpoint=Checkpoint(until=fetch.until))
        asker = asker_of(request.reason, request.asked_by)
        self.fetches[fetch.id] = fetch
        self.jobs[job.id] = JobRow(job, due_at=self.moment(), admitted=False, asker=asker)
        self._follow(fetch.id, request.asked_by)
        return Asked(fetch, (), joined=False)

    def _follow(self, fetch_id: int, user_id: int | None) -> None:
        known = self.followers.setdefault(fetch_id, [])
        if user_id is not None and user_id not in known:
            known.append(user_id)


def _new_fetch(fetch_id: int, request: Request, tables: FakeAdmission) -> Fetch:
    domain, reach, now = tables.domains[request.domain.name], request.reach, tables.moment()
    mark = domain.mark
    kind = kind_of(mark, domain.walked_at, now=now, full_every=reach.full_every, full=reach.full)
    return Fetch(
        id=fetch_id,
        domain=request.domain,
        state=FetchState.ACTIVE,
        reason=request.reason,
        asked_by=request.asked_by,
        asked_at=tables.moment(),
        started_at=None,
        finished_at=None,
        total=None,
        pages=0,
        found=0,
        new=0,
        changed=0,
        unseen=None,
        warnings=0,
        error=None,
        kind=kind,
        until=None if kind is FetchKind.FULL or mark is None else mark - reach.overlap,
    )


class FakeDue(FakeFetches):
    """The port `Due`."""

    def take_turn(self, holder: Holder, length: timedelta) -> bool:
        with self.call():
            if self.turn is not None:
                other, expires = self.turn
                if other != holder and expires > self.moment():
                    return False
            self.turn = (holder, self.moment() + length)
            return True

    def admit(self, again: Collection[int] = ()) -> Sequence[tuple[int, Pool]]:
        with self.call():
            return sorted({*self.let_in(), *self.ready_again(again)})

    def unrung(self, after: tuple[int, int] | None, count: int) -> Sequence[tuple[int, Pool]]:
        with self.call():
            ringing = sorted(
                (RANKS[row.job.pool], row.job.id)
                for row in self.jobs.values()
                if self._should_ring(row)
            )
            pools = tuple(RANKS)
            behind = [key for key in ringing if after is None or key > after]
            return [(job_id, pools[rank]) for rank, job_id in behind[:count]]

    def close_idle_fetches(self) -> int:
        with self.call():
            return len(self.close(list(self.fetches)))

    def prune(self) -> int:
        with self.call():
            return self._prune_log() + self._prune_jobs() + self._prune_fetches()

    def epoch(self) -> str:
        with self.call():
            return "the epoch of a database in memory"

    def _should_ring(self, row: JobRow) -> bool:
        if not row.admitted:
            return False
        if row.job.state is JobState.QUEUED:
            return row.due_at <= self.moment()
        return row.job.state is JobState.RUNNING and not self.is_held(row)

    def _prune_log(self) -> int:
        oldest = self.moment() - self.keeping.page_log
        old = [key for key, page in self.page_log.items() if page.written_at < oldest]
        for key in old:
            del self.page_log[key]
        return len(old)

    def _prune_jobs(self) -> int:
        oldest = self.moment() - self.keeping.jobs
        old = [
            job_id
            for job_id, row in self.jobs.items()
            if row.job.state in ENDED
            and self.fetches[row.job.fetch_id].state in {FetchState.DONE, FetchState.CANCELLED}
            and not any(self._is_dead(other) for other in self.jobs_of(row.job.fetch_id))
            and row.finished_at is not None
            and row.finished_at < oldest
        ]
        for job_id in old:
            del self.jobs[job_id]
        return len(old)

    @staticmethod
    def _is_dead(row: JobRow) -> bool:
        return row.job.state is JobState.DEAD

    def _prune_fetches(self) -> int:
        oldest = self.moment() - self.keeping.fetches
        newest = {fetch.domain.name: fetch.id for fetch in self.fetches.values()}
        old = [
            fetch.id
            for fetch in self.fetches.values()
            if fetch.finished_at is not None
            and fetch.finished_at < oldest
            and fetch.id != newest[fetch.domain.name]
            and fetch.id != self.domains[fetch.domain.name].complete_fetch_id
        ]
        for fetch_id in old:
            for row in self.jobs_of(fetch_id):
                del self.jobs[row.job.id]
            del self.fetches[fetch_id]
        return len(old)


def _supersedes(other: Fetch, fetch: Fetch) -> bool:
    """Tell whether another fetch of the domain is active, or has read it since."""
    if other.domain != fetch.domain or other.id == fetch.id:
        return False
    return other.state is FetchState.ACTIVE or (other.id > fetch.id and other.pages > 0)
