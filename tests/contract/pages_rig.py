"""Archive pages and leases for tests of what is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, Preview, PreviewKind, Query, TotalRange
from ppcfetch.model.domain import DomainName
from ppcfetch.model.job import Checkpoint, Job, JobKind, JobState, Pool
from ppcfetch.model.lease import Holder, Lease
from ppcfetch.ports import Progress

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
PICTURE = Preview(PreviewKind.IMAGE, "https://pictures.example/1", 300, 200)


def ad(number: int = 1, **values: Any) -> Ad:
    """Give an ad; whatever is not named is the same for every ad."""
    usual: dict[str, Any] = {
        "advertiser_id": "AR01",
        "creative_id": f"CR{number:04}",
        "advertiser_name": "Shoes Ltd",
        "format": AdFormat.TEXT,
        "first_shown": NOON - timedelta(days=10),
        "last_shown": NOON,
        "days_shown": 5,
        "preview": PICTURE,
    }
    return Ad(**(usual | values))


def page(*ads: Ad, cursor: str | None = "next", total: TotalRange | None = None) -> ArchivePage:
    """Give an archive page; without a cursor it is the last one."""
    return ArchivePage(ads=ads, next_cursor=cursor, total=total)


def lease_of(engine: Engine, domain: str = "shoes.example", **query: Any) -> Lease:
    """Make a domain, an active fetch unless it has one, and a running job; give its lease."""
    with engine.begin() as connection:
        connection.execute(
            text("INSERT INTO domains (domain) VALUES (:domain) ON CONFLICT DO NOTHING"),
            {"domain": domain},
        )
        fetch = (
            connection.execute(
                text("SELECT id FROM fetches WHERE domain = :domain AND state = 'active'"),
                {"domain": domain},
            ).scalar()
            or connection.execute(
                text(
                    "INSERT INTO fetches (domain, reason) VALUES (:domain, 'person') RETURNING id"
                ),
                {"domain": domain},
            ).scalar_one()
        )
        job = connection.execute(
            text(
                "INSERT INTO jobs (fetch_id, kind, pool, domain, state, fence, starts, attempts)"
                " VALUES (:fetch, 'walk', 'bulk', :domain, 'running', 1, 1, 1) RETURNING id"
            ),
            {"fetch": fetch, "domain": domain},
        ).scalar_one()
    asked = Query(DomainName(domain), **query)
    state = JobState.RUNNING
    leased = Job(job, fetch, JobKind.WALK, Pool.BULK, asked, state, 1, 1, 1, 0, Checkpoint())
    return Lease(leased, fence=1, holder=Holder("host.bulk.1", 1))


def write(pages: PostgresPages, lease: Lease, written: ArchivePage) -> Progress:
    """Store a page with the checkpoint that belongs to it."""
    checkpoint = Checkpoint(cursor=written.next_cursor, mark="mark", oldest=NOON)
    return pages.write_page(lease, written, checkpoint)


def walk(engine: Engine, lease: Lease, written: Sequence[ArchivePage]) -> Lease:
    """Store pages one after the other; gives the lease as it is after the last one."""
    pages = PostgresPages(engine)
    for each in written:
        lease = replace(lease, job=write(pages, lease, each).job)
    return lease


def fetched(engine: Engine, *ads: Ad, domain: str = "shoes.example") -> int:
    """Fetch a domain that has these ads, to its end; gives the fetch's id."""
    lease = lease_of(engine, domain)
    walk(engine, lease, [page(*ads, cursor=None)])
    return lease.job.fetch_id


def rows(engine: Engine, query: str, **values: Any) -> list[Mapping[str, Any]]:
    """Give what a query finds."""
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(text(query), values).mappings()]


def row(engine: Engine, query: str, **values: Any) -> Mapping[str, Any]:
    """Give the one row that a query finds."""
    (found,) = rows(engine, query, **values)
    return found
