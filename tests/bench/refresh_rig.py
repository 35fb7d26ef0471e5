"""A domain of two million ads that is held whole, and refreshes of it without a socket."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
from sqlalchemy import Engine

from fixtures.emulator.portfolio import Portfolio
from ppcfetch.adapters.database.due import PostgresDue
from ppcfetch.adapters.database.fetches import PostgresFetches
from ppcfetch.adapters.database.jobs import PostgresJobs
from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchReason, Reach
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Lease
from ppcfetch.ports import Request, Taking
from ppcfetch.usecases.run_job import run_job
from tests.builders import HOLDER
from tests.emulated_archive import EmulatedArchive, FreePace, LoneRun
from tests.fakes_tables import KEEPING, LIMITS
from tests.servers import libpq
from tests.stage import StageClock

PAGE = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COLUMNS = (
    "domain, advertiser_id, creative_id, format, first_shown, last_shown, preview_kind,"
    " first_fetch_id, last_fetch_id"
)


class HeldDomain:
    """A domain of which every ad is stored already; `archive` counts what it is asked."""

    def __init__(self, engine: Engine, url: str, domain: str) -> None:
        self.archive = EmulatedArchive()
        portfolio = self.archive.calls.archive.catalogue.portfolio(domain)
        assert portfolio is not None
        self.portfolio: Portfolio = portfolio
        self.domain = DomainName(domain)
        self._engine = engine
        self._jobs = PostgresJobs(engine, LIMITS)
        self._due = PostgresDue(engine, LIMITS, KEEPING)
        self._fetches = PostgresFetches(engine)
        with psycopg.connect(libpq(url)) as connection:
            self._load(connection)

    def show_again(self, ads: int) -> None:
        """Let ads be shown again now."""
        churn = self.archive.calls.archive.book.of(self.portfolio)
        with churn.lock:
            churn.bump(self.portfolio, 0, ads)

    def refresh(self, overlap: timedelta) -> Fetch:
        """Fetch the domain and run all jobs to which that leads; gives the fetch as it ended."""
        reach = Reach(overlap=overlap)
        request = Request(self.domain, FetchReason.COMMAND, force=True, reach=reach)
        asked = self._fetches.request(request)
        jobs = [job_id for job_id, _ in asked.jobs]
        while jobs:
            for job_id in jobs:
                self._run(self._lease(job_id))
            jobs = [job_id for job_id, _ in self._due.admit()]
        return self._fetches.get(asked.fetch.id)

    def shown_since(self, moment: datetime) -> int:
        """Count the ads that stand before the first one last shown before a moment."""
        for place, hit in enumerate(self.archive.calls.archive.searcher.everything(self.portfolio)):
            ad = hit.ad()
            if ad.trait.last_told and _moment(ad.last_us) < moment:
                return place
        return self.portfolio.company.ads

    def _run(self, lease: Lease) -> None:
        run = LoneRun(lease.job)
        walk = run_job(
            run,
            archive=self.archive,
            pages=PostgresPages(self._engine),
            pace=FreePace(),
            clock=StageClock(),
            patience=timedelta(minutes=1),
        )
        for _ in walk:
            pass

    def _lease(self, job_id: int) -> Lease:
        taking = Taking(job_id, f"job {job_id}")
        answer = self._jobs.take([taking], holder=HOLDER, pool=Pool.INTERACTIVE)[job_id]
        assert isinstance(answer, Lease), answer
        return answer

    def _load(self, connection: psycopg.Connection) -> None:
        """Store what a full walk would have stored, the domain's marks last."""
        ads, newest = self.portfolio.company.ads, _moment(self.portfolio.last_us(0))
        connection.execute(
            "INSERT INTO domains (domain, ads, mark, walked_at, walked_ads, checked_at)"
            " VALUES (%s, %s, %s, now(), %s, now())",
            (self.domain.name, ads, newest, ads),
        )
        fetch = connection.execute(
            "INSERT INTO fetches (domain, reason, state, found, new, finished_at)"
            " VALUES (%s, 'command', 'done', %s, %s, now()) RETURNING id",
            (self.domain.name, ads, ads),
        ).fetchone()
        assert fetch is not None
        accounts = self._accounts()
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO advertisers (advertiser_id) VALUES (%s)", [(a,) for a in accounts]
            )
            with cursor.copy(f"COPY ads ({_COLUMNS}) FROM STDIN") as copy:
                for row in self._rows(accounts, fetch[0]):
                    copy.write_row(row)
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM ANALYZE ads")

    def _accounts(self) -> list[str]:
        catalogue = self.archive.calls.archive.catalogue
        slots = range(len(self.portfolio.company.advertisers))
        return [catalogue.advertiser_id(self.portfolio, slot) for slot in slots]

    def _rows(self, accounts: list[str], fetch: int) -> Iterator[tuple[object, ...]]:
        for index in range(self.portfolio.company.ads):
            ad = self.portfolio.ad(index)
            trait = ad.trait
            first = _moment(ad.first_us) if trait.first_told and not trait.absurd_first else None
            last = _moment(ad.last_us) if trait.last_told else None
            advertiser = accounts[trait.slot]
            known = (trait.format, first, last, 0, fetch, fetch)
            yield (self.domain.name, advertiser, ad.creative, *known)


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
