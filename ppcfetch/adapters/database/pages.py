"""The fenced write of an archive page: everything it tells and its checkpoint, or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg
from sqlalchemy import Engine

from ppcfetch.adapters.database import page_statements as sql
from ppcfetch.adapters.database.closing import close_fetches
from ppcfetch.adapters.database.codes import FORMAT_CODES
from ppcfetch.adapters.database.driver import driver
from ppcfetch.adapters.database.engine import translated
from ppcfetch.adapters.database.numbered import numbered
from ppcfetch.adapters.database.page_arrays import teach
from ppcfetch.adapters.database.page_rows import bound
from ppcfetch.errors import LeaseLost
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.model.job import Checkpoint, JobState
from ppcfetch.model.lease import Lease
from ppcfetch.model.walk import goes_to_its_end
from ppcfetch.ports import Progress

_ADVANCE_JOB = numbered(sql.ADVANCE_JOB)
_STORE_PAGE = numbered(sql.STORE_PAGE)

_Raw = psycopg.Connection[Any]


@dataclass(frozen=True, slots=True)
class _Write:
    """One page to be written, under which lease."""

    lease: Lease
    page: ArchivePage
    checkpoint: Checkpoint
    parts: Sequence[Query] = ()

    @property
    def ends(self) -> bool:
        """Tell whether it is the last page of the walk, or the one behind which it is split."""
        return self.page.next_cursor is None or self.checkpoint.ended or bool(self.parts)

    @property
    def domain(self) -> str:
        """Give the name under which its ads are stored."""
        return self.lease.job.query.domain.name

    def values(self) -> dict[str, Any]:
        """Give what the statements bind."""
        job, query = self.lease.job, self.lease.job.query
        # The range of a part of the domain says nothing about the domain.
        total = self.page.total if query.format is None and query.first_day is None else None
        return {
            "job": job.id,
            "fence": self.lease.fence,
            "pages": job.pages,
            "domain": self.domain,
            "fetch": job.fetch_id,
            "holder": self.lease.holder.consumer,
            "incarnation": self.lease.holder.incarnation,
            "cursor_in": job.checkpoint.cursor,
            "cursor": self.checkpoint.cursor,
            "mark": self.checkpoint.mark,
            "oldest": self.checkpoint.oldest,
            "newest": self.checkpoint.newest,
            "until": self.checkpoint.until,
            "in_order": self.checkpoint.in_order,
            "to_end": goes_to_its_end(job, self.checkpoint),
            "ended": self.ends,
            "lower": total and total.lower,
            "upper": total and total.upper,
            "ads": len(self.page.ads),
            "warnings": len(self.page.warnings),
        }

    def part_values(self) -> dict[str, Any]:
        """Give what `ADD_PARTS` binds."""
        return {
            "job": self.lease.job.id,
            "formats": [part.format and FORMAT_CODES[part.format] for part in self.parts],
            "first_days": [part.first_day for part in self.parts],
            "last_days": [part.last_day for part in self.parts],
        }

    def progress(self, new: int, changed: int) -> Progress:
        """Give the answer once it is stored."""
        job = self.lease.job.advanced(self.checkpoint)
        if self.ends:
            job = replace(job, state=JobState.DONE)
        return Progress(job=job, new=new, changed=changed, ended=self.ends)


class PostgresPages:
    """The port `ppcfetch.ports.Pages` on PostgreSQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def write_page(
        self,
        lease: Lease,
        page: ArchivePage,
        checkpoint: Checkpoint,
        parts: Sequence[Query] = (),
    ) -> Progress:
        """Store a page as the port says, in one transaction of few round trips."""
        write = _Write(lease, page, checkpoint, parts)
        with translated(), self._engine.connect() as connection:
            with connection.begin(), driver(connection) as raw:
                values = write.values()
                if _ADVANCE_JOB.run(raw, values).rowcount != 1:
                    return write.progress(*_stored_before(raw, write))
                counts = _store(raw, write, values)
                if write.parts:
                    raw.execute(sql.ADD_PARTS, write.part_values())
                if write.ends:
                    close_fetches(connection, [lease.job.fetch_id])
            return write.progress(*counts)


def _store(raw: _Raw, write: _Write, values: Mapping[str, Any]) -> tuple[int, int]:
    """Store what the page tells; gives how many of its ads were new and changed."""
    teach(raw)
    stored = _STORE_PAGE.run(raw, {**values, **bound(write.page.ads)})
    new, changed = stored.fetchall()[0]
    return new, changed


def _stored_before(raw: _Raw, write: _Write) -> tuple[int, int]:
    """Give the counts of a write that was committed although its answer was lost."""
    found = raw.execute(sql.WRITTEN_BEFORE, write.values()).fetchall()
    if not found:
        job = write.lease.job.id
        raise LeaseLost(f"job {job} is no longer held under fence {write.lease.fence}")
    new, changed = found[0]
    return new, changed
