"""What the site is handed: everything it may do, and nothing else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from ppcfetch.model.account import Account, User
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch
from ppcfetch.model.job_view import JobView
from ppcfetch.model.page import (
    AdPage,
    AdQuery,
    AdvertiserPage,
    Counts,
    DomainPage,
    Hits,
    ProgressPage,
)
from ppcfetch.ports import Asked, Followers, Request, WatchLists


class Catalogue(Protocol):
    """What can be looked at; reads only. Raises: DatabaseUnavailable from every method."""

    def domain_page(self, query: AdQuery, limit: int) -> DomainPage:
        """Give a domain's page with a stretch of its ads; of an unknown one, with known False.

        Shape: all of it as it was at one moment; an unreadable mark counts as the beginning.
        """
        ...

    def progress(self, domain: DomainName) -> ProgressPage:
        """Give what of that page changes while a fetch runs. Raises: NotFound."""
        ...

    def ad(self, advertiser_id: str, creative_id: str) -> AdPage:
        """Give one ad. Raises: NotFound."""
        ...

    def advertiser(self, advertiser_id: str) -> AdvertiserPage:
        """Give one advertiser. Raises: NotFound."""
        ...

    def fetch(self, fetch_id: int) -> Fetch:
        """Give one fetch. Raises: NotFound."""
        ...

    def search(self, words: str, limit: int) -> Hits:
        """Give domains that begin with the words and advertisers whose name contains them."""
        ...

    def counts(self) -> Counts:
        """Give how much is held of everything, roughly."""
        ...


class Users(Protocol):
    """Accounts. Raises: DatabaseUnavailable from every method."""

    def by_email(self, email: str) -> Account | None:
        """Give the account of a lower-case address."""
        ...

    def add(self, email: str, password_hash: str) -> User:
        """Make an account. Raises: Refused when the address has one."""
        ...

    def set_password(self, user_id: int, password_hash: str) -> None:
        """Keep a new hash and end every log-in of the user."""
        ...


class Sessions(Protocol):
    """Log-ins, kept by the hash of their token. Raises: DatabaseUnavailable from every method."""

    def begin(self, token_hash: bytes, user_id: int, length: timedelta) -> None:
        """Keep a log-in until it is that old."""
        ...

    def user_of(self, token_hash: bytes) -> User | None:
        """Give whose unexpired log-in it is; reads only."""
        ...

    def end(self, token_hash: bytes) -> None:
        """Forget a log-in."""
        ...

    def end_others(self, user_id: int, keep: bytes) -> int:
        """Forget a user's other log-ins; gives how many there were."""
        ...


class Passwords(Protocol):
    """The slow hash. Raises: Refused when too many are at it: try again."""

    def check(self, password: str) -> None:
        """Accept a password that somebody may choose. Raises: Refused, saying what is wrong."""
        ...

    def hash(self, password: str) -> str:
        """Give what may be kept of a password."""
        ...

    def verify(self, password_hash: str | None, password: str) -> bool:
        """Tell whether it is the password; None takes as long and is never right."""
        ...

    def is_outdated(self, password_hash: str) -> bool:
        """Tell whether the hash was made with weaker numbers than today's."""
        ...


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the site can answer.

    Shape: database and schema are needed; without the stream pages stay readable and requests
    are kept, so that is only a degraded state.
    """

    database: bool
    schema: bool
    stream: bool


@dataclass(frozen=True, slots=True)
class Services:
    """The site's bundle.

    Shape: request_refresh is the use case over its ports, cancel that of the fetches port;
    health answers within two seconds whatever is away; walks gives those of a fetch,
    oldest first.
    """

    catalogue: Catalogue
    request_refresh: Callable[[Request], Asked]
    cancel: Callable[[int], bool]
    users: Users
    sessions: Sessions
    passwords: Passwords
    watches: WatchLists
    followers: Followers
    health: Callable[[], Health]
    walks: Callable[[int], Sequence[JobView]]
