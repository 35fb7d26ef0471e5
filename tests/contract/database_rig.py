"""The row ports on the database in memory and on a real one, with time in the test's hands."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from typing import Any

from sqlalchemy import Row, text

from ppcfetch.adapters.database.audit import PostgresAudit
from ppcfetch.adapters.database.due import PostgresDue
from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.adapters.database.fetches import PostgresFetches
from ppcfetch.adapters.database.followers import PostgresFollowers
from ppcfetch.adapters.database.importing import PostgresImports
from ppcfetch.adapters.database.jobs import PostgresJobs
from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.adapters.database.pauses import PostgresPauses
from ppcfetch.adapters.database.rows import job_of
from ppcfetch.adapters.database.watches import PostgresWatches
from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, Preview, PreviewKind, Query
from ppcfetch.model.admission import Admission
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason, Freshness
from ppcfetch.model.job import Job, Pool
from ppcfetch.model.lease import Holder, Lease, Refused
from ppcfetch.model.walk import behind
from ppcfetch.ports import (
    Asked,
    Audit,
    Due,
    Fetches,
    Followers,
    Imports,
    Jobs,
    Pages,
    Pauses,
    Progress,
    Request,
    Taking,
    Watched,
    WatchLists,
)
from tests.fakes_database import FakeDatabase
from tests.fakes_tables import KEEPING, LIMITS, JobRow

LEASE = LIMITS.lease
MOMENT = timedelta(seconds=1)
ANNA = Holder("host.interactive.1", 1)
BERT = Holder("host.interactive.2", 2)

_TIMES = {
    "domains": ("checked_at", "attempted_at", "walked_at"),
    "fetches": ("asked_at", "started_at", "finished_at"),
    "jobs": ("due_at", "taken_at", "beat_at", "progressed_at", "finished_at"),
    "page_log": ("written_at",),
    "sessions": ("expires_at",),
    "turns": ("expires_at",),
    "watches": ("created_at",),
}


@dataclass
class Rig:
    """The ports under test, and how to look behind them."""

    jobs: Jobs
    fetches: Fetches
    due: Due
    pages: Pages
    pauses: Pauses
    audit: Audit
    imports: Imports
    followers: Followers
    watches: WatchLists
    watched: Watched

    def passes(self, length: timedelta) -> None:
        """Let time pass, as far as the database can tell."""
        raise NotImplementedError

    def job(self, job_id: int) -> Job | None:
        """Give a job's row, None when there is none."""
        raise NotImplementedError

    def person(self, user_id: int) -> int:
        """Make an account with this number; gives it."""
        raise NotImplementedError

    def freshness(self, domain: str) -> Freshness:
        """Give a domain's marks."""
        raise NotImplementedError

    def forget_jobs(self, fetch_id: int) -> None:
        """Delete a fetch's jobs by hand."""
        raise NotImplementedError

    def let_in(self, *, window: int, parts: int = 8) -> None:
        """Say how many jobs may have a message from now on."""
        raise NotImplementedError

    def add_job(self, fetch_id: int) -> int:
        """Give a fetch one more queued job, as splitting does; gives its id."""
        raise NotImplementedError

    # What most tests begin with

    def ask(self, domain: str = "shop.example", reason: FetchReason = FetchReason.PERSON) -> Asked:
        """Ask for a fetch by force."""
        return self.fetches.request(Request(DomainName(domain), reason, force=True))

    def queued(self, domain: str = "shop.example") -> int:
        """Give the id of a new interactive job."""
        [(job_id, _)] = self.ask(domain).jobs
        return job_id

    def take(
        self,
        job_id: int,
        holder: Holder = ANNA,
        *,
        pool: Pool = Pool.INTERACTIVE,
        request: str = "",
    ) -> Lease | Refused:
        """Ask for a lease, with a new request id unless one is named, once its turn has come."""
        self.due.admit()
        taking = Taking(job_id, request or f"request {next(_REQUESTS)}")
        return self.jobs.take([taking], holder=holder, pool=pool)[job_id]

    def lease(
        self,
        job_id: int,
        holder: Holder = ANNA,
        *,
        pool: Pool = Pool.INTERACTIVE,
        request: str = "",
    ) -> Lease:
        """Give a lease that must be granted."""
        answer = self.take(job_id, holder, pool=pool, request=request)
        assert isinstance(answer, Lease), answer
        return answer

    def row(self, job_id: int) -> Job:
        """Give a job's row, which must be there."""
        job = self.job(job_id)
        assert job is not None
        return job

    def write(self, lease: Lease, ads: Sequence[Ad] = (), *, last: bool = False) -> Progress:
        """Write the next page of the job."""
        cursor = None if last else f"cursor {lease.job.pages + 1}"
        checkpoint = lease.job.checkpoint.after(
            pages=lease.job.pages + 1, next_cursor=cursor, oldest=None
        )
        return self.pages.write_page(lease, ArchivePage(tuple(ads), cursor, None), checkpoint)

    def step(self, lease: Lease, page: ArchivePage, parts: Sequence[Query] = ()) -> Lease:
        """Store a page as a walk does; gives the lease as it is behind it."""
        checkpoint = behind(lease.job, page)
        return replace(lease, job=self.pages.write_page(lease, page, checkpoint, parts).job)


_REQUESTS = count(1)


def an_ad(number: int) -> Ad:
    """An ad that differs from others by its number."""
    return Ad(
        advertiser_id="AR1",
        creative_id=f"CR{number}",
        advertiser_name="Example Ltd",
        format=AdFormat.TEXT,
        first_shown=None,
        last_shown=None,
        days_shown=None,
        preview=Preview(PreviewKind.NONE),
    )


class FakeRig(Rig):
    """On the database in memory."""

    def __init__(self) -> None:
        self.database = FakeDatabase()
        super().__init__(*[self.database] * 10)

    def passes(self, length: timedelta) -> None:
        self.database.advance(length)

    def job(self, job_id: int) -> Job | None:
        row = self.database.jobs.get(job_id)
        return None if row is None else row.job

    def person(self, user_id: int) -> int:
        return user_id

    def freshness(self, domain: str) -> Freshness:
        row = self.database.domains[domain]
        return Freshness(row.checked_at, row.attempted_at)

    def forget_jobs(self, fetch_id: int) -> None:
        for row in self.database.jobs_of(fetch_id):
            del self.database.jobs[row.job.id]

    def let_in(self, *, window: int, parts: int = 8) -> None:
        self.database.admission = Admission(window, parts)

    def add_job(self, fetch_id: int) -> int:
        job_id = self.database.next("jobs")
        first = self.database.jobs_of(fetch_id)[0].job
        job = FakeDatabase.new_job(job_id, first.fetch_id, first.query, first.pool)
        self.database.jobs[job_id] = JobRow(job, due_at=self.database.moment())
        return job_id


class RealRig(Rig):
    """On PostgreSQL, where time passes by moving everything that is stored into the past."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = make_engine(url, application="contract", pool_size=8, lease=LEASE)
        super().__init__(
            jobs=PostgresJobs(self.engine, LIMITS),
            fetches=PostgresFetches(self.engine),
            due=PostgresDue(self.engine, LIMITS, KEEPING),
            pages=PostgresPages(self.engine),
            pauses=PostgresPauses(self.engine),
            audit=PostgresAudit(self.engine),
            imports=PostgresImports(self.engine, Admission()),
            followers=PostgresFollowers(self.engine, self.engine),
            watches=PostgresWatches(self.engine, self.engine),
            watched=PostgresWatches(self.engine, self.engine),
        )

    def passes(self, length: timedelta) -> None:
        for table, columns in _TIMES.items():
            moved = ", ".join(f"{column} = {column} - :length" for column in columns)
            self.run(f"UPDATE {table} SET {moved}", length=length)  # noqa: S608 -- our own names

    def job(self, job_id: int) -> Job | None:
        rows = self.run("SELECT * FROM jobs WHERE id = :id", id=job_id)
        return job_of(rows[0]) if rows else None

    def person(self, user_id: int) -> int:
        self.run(
            "INSERT INTO users (id, email, password_hash) VALUES (:id, :email, 'x')",
            id=user_id,
            email=f"{user_id}@mail.example",
        )
        return user_id

    def freshness(self, domain: str) -> Freshness:
        [row] = self.run("SELECT * FROM domains WHERE domain = :domain", domain=domain)
        return Freshness(row.checked_at, row.attempted_at)

    def forget_jobs(self, fetch_id: int) -> None:
        self.run("DELETE FROM jobs WHERE fetch_id = :id", id=fetch_id)

    def let_in(self, *, window: int, parts: int = 8) -> None:
        admission = Admission(window, parts)
        self.fetches = PostgresFetches(self.engine, admission)
        self.due = PostgresDue(self.engine, LIMITS, KEEPING, admission)

    def add_job(self, fetch_id: int) -> int:
        [row] = self.run(
            "INSERT INTO jobs (fetch_id, kind, pool, domain)"
            " SELECT fetch_id, kind, pool, domain FROM jobs WHERE fetch_id = :id"
            " ORDER BY id LIMIT 1 RETURNING id",
            id=fetch_id,
        )
        return int(row.id)

    def run(self, statement: str, **values: object) -> Sequence[Row[Any]]:
        """Run a statement of the test's own."""
        with self.engine.begin() as connection:
            result = connection.execute(text(statement), values)
            return result.all() if result.returns_rows else []

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()

    def empty(self) -> None:
        """Delete all rows but the epoch."""
        self.run(
            "TRUNCATE domains, advertisers, ads, fetches, jobs, page_log, domain_advertisers,"
            " domain_days, users, followers, watches, sessions, turns, pauses, audit"
            " RESTART IDENTITY"
        )
