"""PostgreSQL in memory: every port of rows on one virtual clock.

The contract suites run the same tests on this and on the real server.
"""

from collections.abc import Sequence
from dataclasses import replace

from ppcfetch.adapters.database.page_rows import collapsed
from ppcfetch.errors import LeaseLost
from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, Preview, PreviewKind, Query
from ppcfetch.model.fetch import FetchKind
from ppcfetch.model.job import Checkpoint, JobState, Pool
from ppcfetch.model.lease import Lease
from ppcfetch.model.walk import goes_to_its_end
from ppcfetch.ports import Progress
from tests.fakes_operators import FakeOperators
from tests.fakes_tables import AdRow, JobRow, LoggedPage


class FakeDatabase(FakeOperators):
    """All ports of rows; `advance` lets time pass, `down` and `lose_next_reply` are its faults."""

    def write_page(
        self,
        lease: Lease,
        page: ArchivePage,
        checkpoint: Checkpoint,
        parts: Sequence[Query] = (),
    ) -> Progress:
        checkpoint = replace(checkpoint, ended=checkpoint.ended or bool(parts))
        with self.call():
            logged = self._written_before(lease)
            if logged is None:
                self._add_parts(lease, parts)
                logged = self._write(lease, page, checkpoint)
            job = lease.job.advanced(checkpoint)
            ended = page.next_cursor is None or checkpoint.ended
            if ended:
                job = replace(job, state=JobState.DONE)
            return Progress(job, new=logged.new, changed=logged.changed, ended=ended)

    def _add_parts(self, lease: Lease, parts: Sequence[Query]) -> None:
        row = self.jobs[lease.job.id]
        for part in parts:
            job = self.new_job(self.next("jobs"), row.job.fetch_id, part, Pool.BULK)
            self.jobs[job.id] = JobRow(
                job,
                due_at=self.moment(),
                admitted=False,
                asker=row.asker,
                parent_id=row.job.id,
            )

    def _written_before(self, lease: Lease) -> LoggedPage | None:
        """Give the log's line when only the answer was lost, None when it is to be written."""
        row = self.jobs.get(lease.job.id)
        if row is not None and row.job.fence == lease.fence:
            if row.job.pages == lease.job.pages and row.job.state is JobState.RUNNING:
                return None
            logged = self.page_log.get((row.job.id, row.job.pages))
            once_more = row.job.pages == lease.job.pages + 1
            if once_more and logged is not None and logged.fence == lease.fence:
                return logged
        raise LeaseLost(f"job {lease.job.id} is no longer held under fence {lease.fence}")

    def _write(self, lease: Lease, page: ArchivePage, checkpoint: Checkpoint) -> LoggedPage:
        row = self.jobs[lease.job.id]
        row.job = replace(row.job.advanced(checkpoint), error=None)
        row.beat_at = row.progressed_at = self.moment()
        seen = [self._store(ad, lease) for ad in collapsed(page.ads)]
        found, new, changed = (sum(one[i] for one in seen) for i in range(3))
        row.fresh += found
        self._count(lease, page, (found, new, changed))
        self._mark(lease, checkpoint)
        logged = LoggedPage(lease.fence, lease.holder, new, changed, self.moment())
        self.page_log[row.job.id, row.job.pages] = logged
        if page.next_cursor is None or checkpoint.ended:
            row.change(state=JobState.DONE)
            row.finished_at = self.moment()
            self.close([row.job.fetch_id])
        return logged

    def _store(self, ad: Ad, lease: Lease) -> tuple[bool, bool, bool]:
        """Store one ad; tells whether this fetch found it, it is new, and it has changed."""
        domain, fetch_id = lease.job.query.domain.name, lease.job.fetch_id
        held = self.advertisers.get(ad.advertiser_id)
        self.advertisers[ad.advertiser_id] = ad.advertiser_name or held
        key = (domain, ad.advertiser_id, ad.creative_id)
        row = self.ads.get(key)
        if row is None:
            self.ads[key] = AdRow(ad, first_fetch_id=fetch_id, last_fetch_id=fetch_id)
            self.domains[domain].ads += 1
            return True, True, False
        found = row.last_fetch_id != fetch_id
        # The newer row completes the older one, just as a page that repeats an ad does.
        wider = next(iter(collapsed([row.ad, ad])))
        changed = fetch_id not in {row.first_fetch_id, row.changed_fetch_id} and _looks(
            wider
        ) != _looks(row.ad)
        row.ad, row.last_fetch_id = wider, fetch_id
        if changed:
            row.changed_fetch_id = fetch_id
        return found, False, changed

    def _mark(self, lease: Lease, checkpoint: Checkpoint) -> None:
        fetch = self.fetches[lease.job.fetch_id]
        if fetch.pages == 1:
            self.start_marks[fetch.id] = checkpoint.newest
        if goes_to_its_end(lease.job, checkpoint):
            in_order = fetch.in_order and checkpoint.in_order
            self.fetches[fetch.id] = replace(fetch, kind=FetchKind.FULL, in_order=in_order)

    def _count(self, lease: Lease, page: ArchivePage, counts: tuple[int, int, int]) -> None:
        query, fetch = lease.job.query, self.fetches[lease.job.fetch_id]
        whole = query.format is None and query.first_day is None
        total = page.total if whole else None
        found, new, changed = counts
        self.fetches[fetch.id] = replace(
            fetch,
            total=total or fetch.total,
            pages=fetch.pages + 1,
            found=fetch.found + found,
            new=fetch.new + new,
            changed=fetch.changed + changed,
            warnings=fetch.warnings + len(page.warnings),
            started_at=fetch.started_at or self.moment(),
        )
        domain = self.domains[query.domain.name]
        domain.total = total or domain.total


def _looks(ad: Ad) -> tuple[AdFormat, PreviewKind, object, Preview | None]:
    """Give what makes an ad look different: not its last day, nor the address of a script."""
    picture = ad.preview if ad.preview.kind is PreviewKind.IMAGE else None
    return ad.format, ad.preview.kind, ad.first_shown, picture
