"""The servers of a run: those in memory, watched, and an archive whose truth is known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ppcfetch.errors import ArchiveUnavailable, LeaseLost, PpcFetchError, Retryable
from ppcfetch.model.ad import Ad, ArchivePage, Query
from ppcfetch.model.domain import DomainName
from ppcfetch.model.egress import DIRECT, Permit
from ppcfetch.model.fetch import FetchState
from ppcfetch.model.job import Checkpoint, Pool
from ppcfetch.model.lease import Holder, Lease, Limits, Refused
from ppcfetch.model.outcome import Outcome
from ppcfetch.ports import Progress, Run, Taking
from tests.builders import a_page, an_ad
from tests.fakes_database import FakeDatabase
from tests.fakes_redis import FakeRedis, State
from tests.fakes_stream import FakeStream, Id
from tests.simulation.ledger import Ledger
from tests.simulation.scheduler import Signal
from tests.simulation.wires import Server

if TYPE_CHECKING:
    from tests.simulation.process import Process
    from tests.simulation.world import World

PAGE_SIZE = 2


class WatchedDatabase(FakeDatabase):
    """The database in memory; what it did is noted, whatever became of its answer."""

    def __init__(self, ledger: Ledger, *, limits: Limits, now: Callable[[], float]) -> None:
        super().__init__(limits=limits, now=now)
        self.ledger = ledger

    def take(
        self, takings: Sequence[Taking], *, holder: Holder, pool: Pool
    ) -> Mapping[int, Lease | Refused]:
        fences = {job_id: row.job.fence for job_id, row in self.jobs.items()}
        answers = super().take(takings, holder=holder, pool=pool)
        for answer in answers.values():
            if isinstance(answer, Lease) and answer.fence != fences[answer.job.id]:
                self.ledger.started(answer, pool)
        return answers

    def settle(self, outcomes: Sequence[tuple[Lease, Outcome]]) -> frozenset[int]:
        told = {lease.job.id: outcome for lease, outcome in outcomes}
        ours = super().settle(outcomes)
        for job_id in ours:
            self.ledger.reported(job_id, told[job_id])
        return ours

    def write_page(
        self,
        lease: Lease,
        page: ArchivePage,
        checkpoint: Checkpoint,
        parts: Sequence[Query] = (),
    ) -> Progress:
        before, was = len(self.page_log), self.fetches[lease.job.fetch_id].state
        try:
            progress = super().write_page(lease, page, checkpoint, parts)
        except LeaseLost:
            self.ledger.refused_writes += 1
            raise
        if len(self.page_log) > before:
            self.ledger.stored(lease, progress.job.pages, page)
            fetch = self.fetches[lease.job.fetch_id]
            if was is FetchState.ACTIVE and fetch.state is FetchState.DONE and fetch.in_order:
                self._completed(lease, progress)
        return progress

    def _completed(self, lease: Lease, progress: Progress) -> None:
        domain = lease.job.query.domain.name
        held = {key[2]: row.ad.last_shown for key, row in self.ads.items() if key[0] == domain}
        self.ledger.completed(lease, held, is_one_look=progress.job.pages == 1)


class WatchedRedis(FakeRedis):
    """The Redis in memory; a blocked read ends when something is published.

    Shape: losses is given each loss that is about to happen, by its name and arguments.
    """

    def __init__(
        self,
        now: Callable[[], float],
        *,
        rings: Signal,
        forgets_after: timedelta,
        losses: Callable[..., None],
    ) -> None:
        super().__init__(now, forgets_after=forgets_after, on_block=self._block)
        self._rings = rings
        self._losses = losses

    def add(self, stream: FakeStream, payload: bytes) -> Id:
        added = super().add(stream, payload)
        self._rings.stir()
        return added

    def add_rubbish(self, pool: Pool, payload: bytes) -> None:
        if not (self.down or self.full):
            self._losses("add_rubbish", pool, payload)
            self.add(self.state.streams[pool], payload)

    def flushall(self) -> None:
        self._losses("flushall")
        super().flushall()

    def rewind(self, backup: State) -> None:
        self._losses("rewind")
        super().rewind(backup)

    def delete_stream(self, pool: Pool) -> None:
        self._losses("delete_stream", pool)
        super().delete_stream(pool)

    def destroy_group(self, pool: Pool) -> None:
        self._losses("destroy_group", pool)
        super().destroy_group(pool)

    def delete_consumer(self, pool: Pool, name: str) -> None:
        self._losses("delete_consumer", pool, name)
        super().delete_consumer(pool, name)

    def delete_entry(self, pool: Pool, message_id: str) -> None:
        self._losses("delete_entry", pool, message_id)
        super().delete_entry(pool, message_id)

    def _block(self, length: timedelta) -> None:
        self._rings.wait(length.total_seconds())


class SimArchive:
    """An archive that shows each domain's ads longer, the later it is asked.

    Shape: whoever asks for the poison domain dies of it; a page of the slow one may take longer
    than a lease; is_still tells that it always has the same ads; ways are the ways out to it.
    Units: latency is seconds, the shortest and what may come on top.
    """

    is_still = True
    latency = (0.1, 0.6)
    ways: tuple[str, ...] = (DIRECT,)

    def __init__(
        self,
        world: "World",
        pages: Mapping[str, int],
        *,
        poison: str | None = None,
        slow: str | None = None,
    ) -> None:
        self.world = world
        self.pages = pages
        self.poison = poison
        self.slow = slow
        self.answers: list[Exception] = []

    def ads_of(self, domain: str, page: int) -> list[Ad]:
        """The ads of a page as they are shown now."""
        age = int(self.world.scheduler.now / self.world.limits.lease.total_seconds() / 4)
        first = list(self.pages).index(domain) * 1000 + page * PAGE_SIZE
        return [_aged(an_ad(first + n + 1), age) for n in range(PAGE_SIZE)]

    def creatives(self, domain: str) -> set[str]:
        """Every ad of a domain."""
        return {a.creative_id for n in range(self.pages[domain]) for a in self.ads_of(domain, n)}

    def truth(self, domain: str) -> Mapping[str, datetime | None] | None:
        """What a fetch that ends now has to hold of a domain; None when that is told at the end."""
        return None

    def kills(self, query: Query, cursor: str | None) -> bool:
        """Tell whether asking for this ends the process."""
        return query.domain.name == self.poison

    def refuse(self, way: str) -> None:
        """Let everybody through."""

    def answer(self, query: Query, cursor: str | None) -> ArchivePage:
        """Give a page of what is there now."""
        domain = query.domain.name
        number = int(cursor or 0)
        is_last = number + 1 >= self.pages[domain]
        ads = self.ads_of(domain, number)
        return a_page(*ads, next_cursor=None if is_last else str(number + 1))


class Visit:
    """What one run sees of the archive and of the pace (ports Archive and Pace), counted."""

    def __init__(self, world: "World", process: "Process", run: Run) -> None:
        self._world = world
        self._process = process
        self._run = run
        self._granted: str | None = None
        self._far = process.wire_to(Server.ARCHIVE).port(self)

    def page(self, query: Query, cursor: str | None, *, via: str) -> ArchivePage:
        job, ledger = self._run.lease.job, self._world.ledger
        is_probe = (query, cursor) != (job.query, job.checkpoint.cursor)
        ledger.asked(job, granted=self._granted == via, is_probe=is_probe)
        self._granted = None
        try:
            page: ArchivePage = self._far.answer(query, cursor, via)
        except PpcFetchError as error:
            ledger.answered_badly(job.id, error)
            raise
        if cursor is not None and not page.ads:
            ledger.errors[job.id] += 1  # it may be doubted
        return page

    def answer(self, query: Query, cursor: str | None, via: str) -> ArchivePage:
        """What happens at the far end of the link."""
        archive = self._world.archive
        if archive.kills(query, cursor):
            self._world.ledger.fault("poison", until=self._world.scheduler.now)
            self._process.die("killed by a poison job")
            self._world.scheduler.stop_for_ever()
        if query.domain.name == archive.slow:
            leases = self._world.dice.uniform(0.3, 1.6)
            self._world.scheduler.sleep(leases * self._world.limits.lease.total_seconds())
        archive.refuse(via)
        if archive.answers:
            raise archive.answers.pop(0)
        page = archive.answer(query, cursor)
        self._world.ledger.looked(self._run.lease, archive.truth(query.domain.name))
        return page

    def ask(self, pool: Pool) -> Permit | timedelta:
        leave = self._world.pace.ask(pool)
        self._granted = leave.egress if isinstance(leave, Permit) else None
        return leave

    def went_well(self, permit: Permit) -> None:
        self._world.pace.went_well(permit)

    def went_badly(self, permit: Permit, error: Retryable) -> timedelta | None:
        return self._world.pace.went_badly(permit, error)


def a_domain(number: int) -> DomainName:
    """Give a made-up domain."""
    return DomainName(f"shop-{number}.example")


def cut_body() -> ArchiveUnavailable:
    """Give the most ordinary fault of an archive."""
    return ArchiveUnavailable("the body was cut")


def _aged(ad: Ad, age: int) -> Ad:
    wider = timedelta(hours=age)
    first, last = ad.first_shown, ad.last_shown
    return replace(ad, first_shown=first and first - wider, last_shown=last and last + wider)
