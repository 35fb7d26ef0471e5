"""What the site must be told about where it runs."""

from dataclasses import dataclass, field
from datetime import timedelta

from ppcfetch.model.fetch import Reach


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """The site's settings, handed over by whoever starts it.

    Shape: trusted_hosts empty accepts every Host header; proxy_hops counts the proxies in front
    whose forwarded headers are believed; archive_site is the archive's own site, None when there
    is none to send people to; invented tells that the archive is an emulator; examples
    are domains that the start page offers; schedule_every is the age from which watched domains
    are read again by themselves, None when they are not.
    """

    secret_key: str = field(repr=False)
    former_secret_keys: tuple[str, ...] = field(default=(), repr=False)
    https: bool = False
    trusted_hosts: tuple[str, ...] = ()
    proxy_hops: int = 0
    stale_window: timedelta = timedelta(hours=24)
    reach: Reach = field(default_factory=Reach)
    session_length: timedelta = timedelta(days=14)
    limiter_storage: str = field(default="memory://", repr=False)
    archive_site: str | None = None
    invented: bool = False
    examples: tuple[str, ...] = ()
    fetches_at_once: int = 20
    schedule_every: timedelta | None = None
