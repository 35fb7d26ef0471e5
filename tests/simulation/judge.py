"""Watches a run from outside, says when it is over, and holds the end against the promises."""

from collections import Counter
from typing import TYPE_CHECKING

from ppcfetch.model.fetch import FetchState
from ppcfetch.model.job import ACTIVE, JobKind, JobState
from tests.fakes_tables import JobRow

if TYPE_CHECKING:
    from tests.simulation.world import World

MOST_LEASES_TO_WAIT = 3.0
MOST_LEASES_TO_END = 60.0
MOST_LEASES_TO_FORGET = 6.0


class Judge:
    """The judge of one run."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.is_over = False
        self.quiet_since: float | None = None
        self._lease = world.limits.lease.total_seconds()
        self._look = self._lease / 4
        self._waited: Counter[int] = Counter()
        self._seen: dict[int, object] = {}

    def watch(self) -> None:
        """Look every quarter of a lease; the body of an actor."""
        world = self.world
        while not self.is_over:
            world.scheduler.sleep(self._look)
            if world.ledger.violations:
                self.is_over = True
            elif world.fates.are_over and not world.asking:
                self.quiet_since = self.quiet_since or world.scheduler.now
                self._look_for_progress()
                self._look_for_end(self.quiet_since)

    def _look_for_end(self, since: float) -> None:
        if not self._leftovers():
            self.is_over = True
        elif self.world.scheduler.now - since > MOST_LEASES_TO_END * self._lease:
            self._accuse(f"I6, I12: left over: {'; '.join(self._leftovers())}")

    def _look_for_progress(self) -> None:
        """I8: with a free slot in its pool no job waits for more than three leases."""
        free = {one.post.pool for one in self.world.processes if one.has_free_slot}
        for job_id, row in self.world.database.jobs.items():
            now = row.job, row.due_at
            idle = row.job.pool in free and self._waits(row) and self._seen.get(job_id) == now
            self._waited[job_id] = self._waited[job_id] + 1 if idle else 0
            self._seen[job_id] = now
            leases = self._waited[job_id] * self._look / self._lease
            self.world.ledger.slowest = max(self.world.ledger.slowest, leases)
            if leases > MOST_LEASES_TO_WAIT:
                self._accuse(f"I8: job {job_id} waited for {leases:.1f} leases: {row.job}")

    def _waits(self, row: JobRow) -> bool:
        if row.job.state is JobState.QUEUED:
            is_due = row.due_at <= self.world.database.moment()
            return is_due and not self._waits_for_other_parts(row)
        held = [one.hand.of(row.job.id) for one in self.world.processes]
        fences = {one.lease.fence for one in held if one is not None}
        return row.job.state is JobState.RUNNING and row.job.fence not in fences

    def _waits_for_other_parts(self, row: JobRow) -> bool:
        """So many parts of a fetch at once: the others wait, whatever slots are free."""
        if row.admitted or row.parent_id is None:
            return False
        rows = self.world.database.jobs_of(row.job.fetch_id)
        present = sum(one.admitted and one.job.state in ACTIVE for one in rows)
        return present >= self.world.database.admission.parts

    def _leftovers(self) -> list[str]:
        """I6, I12: what is neither ended nor cleared away."""
        database, redis = self.world.database, self.world.redis
        left = [f"{row.job}" for row in database.jobs.values() if row.job.state in ACTIVE]
        left += [f"{f}" for f in database.fetches.values() if f.state is FetchState.ACTIVE]
        for pool, stream in redis.state.streams.items():
            pending = stream.group.pending if stream.group else {}
            if stream.entries or pending:
                left.append(f"{pool}: {stream.entries} {pending}")
        if redis.state.live:
            left.append(f"live: {redis.state.live}")
        return left

    def _accuse(self, what: str) -> None:
        self.world.ledger.violation(what)

    # At the end

    def audit(self) -> None:
        """Compare what is stored with what was served."""
        self._requests()
        self._ads()
        self._work()
        self._names()

    def _requests(self) -> None:
        database = self.world.database
        lost = self.world.ledger.acknowledged - database.fetches.keys()
        if lost:
            self._accuse(f"I1: acknowledged fetches {lost} have no row")
        walks = [row for row in database.jobs.values() if row.job.kind is JobKind.WALK]
        jobs = Counter(row.job.fetch_id for row in walks if row.parent_id is None)
        if any(count != 1 for count in jobs.values()) or jobs.keys() != database.fetches.keys():
            self._accuse(f"I2: a request made more than one job, or none: {jobs}")
        queries = Counter((row.job.fetch_id, row.job.query) for row in walks)
        if twice := [query for query, count in queries.items() if count > 1]:
            self._accuse(f"I2: parts were made twice: {twice}")

    def _ads(self) -> None:
        ledger, database = self.world.ledger, self.world.database
        stored = {
            (domain, creative): (row.ad.first_shown, row.ad.last_shown)
            for (domain, _, creative), row in database.ads.items()
        }
        if stored != ledger.shown:
            wrong = stored.items() ^ ledger.shown.items()
            self._accuse(f"I4, I5: stored and served differ in {sorted(wrong, key=str)[:4]}")
        counts = Counter(domain for domain, _ in stored)
        for domain, row in database.domains.items():
            if row.ads != counts[domain]:
                self._accuse(f"I5: {domain} counts {row.ads} ads and holds {counts[domain]}")
        for fetch in database.fetches.values():
            found = ledger.found.get(fetch.id, set())
            if (fetch.found, fetch.pages) != (len(found), ledger.fetch_pages[fetch.id]):
                self._accuse(f"I5: fetch {fetch} was served {len(found)} ads")
            whole = self.world.archive.creatives(fetch.domain.name)
            if self.world.archive.is_still and fetch.state is FetchState.DONE and found != whole:
                self._accuse(f"I4: fetch {fetch.id} is done without {whole ^ found}")
            states = {row.job.state for row in database.jobs_of(fetch.id)}
            if fetch.state is FetchState.DONE and states != {JobState.DONE}:
                self._accuse(f"I4: fetch {fetch.id} is done although jobs are {states}")

    def _work(self) -> None:
        """I7: each start has a cause, and each start asks for one page more than it stores."""
        ledger = self.world.ledger
        for job_id, row in self.world.database.jobs.items():
            causes = 1 + ledger.cost + ledger.reports[job_id] + ledger.retries[job_id]
            if ledger.starts[job_id] > causes:
                self._accuse(f"I7: job {job_id} started {ledger.starts[job_id]} of {causes} times")
            pages = ledger.commits[job_id] + ledger.starts[job_id]
            if len(self.world.archive.ways) > 1:
                pages += ledger.answered_with_errors[job_id]  # asked again over another way
            if ledger.calls[job_id] > pages:
                self._accuse(f"I7: job {job_id} asked {ledger.calls[job_id]} of {pages} times")
            worn_out = row.job.state is JobState.DEAD and "started" in str(row.job.error)
            if worn_out and ledger.cost < self.world.limits.max_starts:
                self._accuse(f"L3: {ledger.cost} faults killed job {job_id}: {row.job.error}")
            poisoned = row.job.query.domain.name == self.world.archive.poison
            if poisoned and row.job.state not in {JobState.DEAD, JobState.CANCELLED}:
                self._accuse(f"the poison job {job_id} is {row.job.state}")

    def _names(self) -> None:
        """I12: no more names are borne than processes ever ran, and idle ones are forgotten."""
        redis, world = self.world.redis, self.world
        borne = [name for name in redis.state.names if redis.bearer(name) is not None]
        if len(borne) > world.posts + sum(world.ledger.faults.values()):
            self._accuse(f"I12: {len(borne)} names are borne")
        quiet = world.scheduler.now - (self.quiet_since or world.scheduler.now)
        for pool, stream in redis.state.streams.items():
            for name, seen in (stream.group.consumers if stream.group else {}).items():
                idle = (redis.now() - seen) / self._lease
                if idle > MOST_LEASES_TO_FORGET and quiet > MOST_LEASES_TO_WAIT * self._lease:
                    self._accuse(f"I12: {pool} still knows {name}, idle for {idle:.0f} leases")
