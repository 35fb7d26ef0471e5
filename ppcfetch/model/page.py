"""What the site reads: one frozen answer for each page, made by the database's catalogue.

All of it is read at one moment; `now` is that moment by the database clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum

from ppcfetch.model.ad import Ad, AdFormat, TotalRange
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, Freshness


class AdSort(StrEnum):
    """The orders in which ads can be listed, newest first."""

    LAST_SHOWN = "last_shown"
    FIRST_SHOWN = "first_shown"


@dataclass(frozen=True, slots=True)
class Waiting:
    """What stands between an active fetch and its next page.

    Shape: ahead counts the jobs before it in its pool, None when it is not waiting in line;
    workers counts the holders that gave a sign of life within a lease, typical is the median
    run of a job; each None when unknown. resumes_at is when a job that rests goes on, error
    why it rests.
    """

    ahead: int | None = None
    workers: int | None = None
    typical: timedelta | None = None
    resumes_at: datetime | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class AdvertiserShare:
    """One advertiser's part in a domain."""

    advertiser_id: str
    name: str | None
    ads: int
    first_shown: datetime | None
    last_shown: datetime | None


@dataclass(frozen=True, slots=True)
class HeldAd:
    """One ad with the fetches that first saw it, last saw it, and last saw it changed."""

    domain: DomainName
    ad: Ad
    first_fetch_id: int
    last_fetch_id: int
    changed_fetch_id: int | None


@dataclass(frozen=True, slots=True)
class AdList:
    """A stretch of ads; older and newer are the marks of what lies on either side, or None."""

    ads: tuple[HeldAd, ...]
    older: str | None = None
    newer: str | None = None


@dataclass(frozen=True, slots=True)
class DomainPage:
    """What we hold of a domain.

    Shape: known is False when there is no row: everything is empty then. advertisers are the
    largest, per_day leaves out days without ads, fetches are the newest, newest first;
    complete is the last fetch that read the domain to its end; listed is the stretch of ads that
    was asked for, read at the same moment as the numbers.
    """

    domain: DomainName
    now: datetime
    known: bool
    freshness: Freshness
    total: TotalRange | None
    ads: int
    formats: Mapping[AdFormat, int]
    advertiser_count: int
    advertisers: tuple[AdvertiserShare, ...] = ()
    per_day: Mapping[date, int] = field(default_factory=dict)
    fetches: tuple[Fetch, ...] = ()
    complete: Fetch | None = None
    waiting: Waiting = Waiting()
    listed: AdList = AdList(())

    @property
    def latest(self) -> Fetch | None:
        """The newest fetch, whatever became of it."""
        return self.fetches[0] if self.fetches else None


@dataclass(frozen=True, slots=True)
class ProgressPage:
    """What changes on a domain's page while a fetch runs: bar and numbers, nothing else."""

    domain: DomainName
    now: datetime
    freshness: Freshness
    total: TotalRange | None
    ads: int
    advertiser_count: int
    latest: Fetch | None
    complete: Fetch | None
    waiting: Waiting = Waiting()


@dataclass(frozen=True, slots=True)
class AdQuery:
    """Which ads of a domain, in which order, from where.

    Shape: after and before are marks that a list gave out; at most one is set. format and
    advertiser_id None mean all.
    """

    domain: DomainName
    format: AdFormat | None = None
    advertiser_id: str | None = None
    sort: AdSort = AdSort.LAST_SHOWN
    after: str | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class DomainShare:
    """One domain that an advertiser pays for."""

    domain: DomainName
    ads: int
    first_shown: datetime | None
    last_shown: datetime | None


@dataclass(frozen=True, slots=True)
class AdvertiserPage:
    """What we hold of an advertiser; domains are the largest."""

    advertiser_id: str
    name: str | None
    ads: int
    domain_count: int
    domains: tuple[DomainShare, ...]


@dataclass(frozen=True, slots=True)
class AdPage:
    """One ad, under each domain that it leads to; never empty."""

    sightings: tuple[HeldAd, ...]


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search found: domains that begin so, advertisers whose name contains it."""

    domains: tuple[DomainShare, ...] = ()
    advertisers: tuple[AdvertiserShare, ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """How much we hold of everything."""

    domains: int
    advertisers: int
    ads: int
