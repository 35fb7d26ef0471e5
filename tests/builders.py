"""Small valid values for tests, each with every field settable."""

from datetime import UTC, datetime, timedelta
from typing import Any

from ppcfetch.model.ad import Ad, AdFormat, ArchivePage, Preview, PreviewKind, Query
from ppcfetch.model.domain import DomainName
from ppcfetch.model.job import Checkpoint, Job, JobKind, JobState, Pool
from ppcfetch.model.lease import Delivery, Holder, Lease, Limits, Token

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
BLUEBIRD = DomainName("bluebird.example")
HOLDER = Holder("host.interactive.1", 7)


def a_limits(**changes: Any) -> Limits:
    """Give limits with a lease of a minute."""
    values: dict[str, Any] = {
        "lease": timedelta(seconds=60),
        "renew": timedelta(seconds=15),
        "stall": timedelta(seconds=180),
        "max_starts": 5,
        "max_attempts": 8,
    }
    return Limits(**{**values, **changes})


def a_job(**changes: Any) -> Job:
    """Give a running interactive walk before its first page."""
    values: dict[str, Any] = {
        "id": 1,
        "fetch_id": 1,
        "kind": JobKind.WALK,
        "pool": Pool.INTERACTIVE,
        "query": Query(BLUEBIRD),
        "state": JobState.RUNNING,
        "fence": 1,
        "starts": 1,
        "attempts": 0,
        "pages": 0,
        "checkpoint": Checkpoint(),
    }
    return Job(**{**values, **changes})


def a_lease(job: Job | None = None, **changes: Any) -> Lease:
    """Give a lease of a job, under the job's own fence."""
    leased = job or a_job()
    values: dict[str, Any] = {"job": leased, "fence": leased.fence, "holder": HOLDER}
    return Lease(**{**values, **changes})


def a_delivery(job_id: int = 1, **changes: Any) -> Delivery:
    """Give a delivery of a job's message to the holder."""
    values: dict[str, Any] = {
        "pool": Pool.INTERACTIVE,
        "token": Token(f"{job_id}-0", HOLDER.consumer, 1),
        "job_id": job_id,
    }
    return Delivery(**{**values, **changes})


def an_ad(number: int = 1, **changes: Any) -> Ad:
    """Give a text ad of one advertiser; the number makes it another ad, shown an hour earlier."""
    values: dict[str, Any] = {
        "advertiser_id": "AR00000000000000000001",
        "creative_id": f"CR{number:020d}",
        "advertiser_name": "Bluebird Outdoor GmbH",
        "format": AdFormat.TEXT,
        "first_shown": NOON - timedelta(days=30),
        "last_shown": NOON - timedelta(hours=number),
        "days_shown": 20,
        "preview": Preview(PreviewKind.NONE),
    }
    return Ad(**{**values, **changes})


def a_page(*ads: Ad, next_cursor: str | None = None, **changes: Any) -> ArchivePage:
    """Give an archive page; without a next cursor it is the last one."""
    values: dict[str, Any] = {"ads": ads, "next_cursor": next_cursor, "total": None}
    return ArchivePage(**{**values, **changes})
