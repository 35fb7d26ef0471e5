"""Which domains people want to be kept fresh."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from ppcfetch.model.domain import DomainName
from ppcfetch.model.watch import WatchedDomain


class WatchLists(Protocol):
    """The domains that each person wants to be kept fresh; nobody sees another's list."""

    def add(self, user_id: int, domain: DomainName) -> None:
        """Put a domain on a person's list, once. Raises: Refused when the list is full."""
        ...

    def remove(self, user_id: int, domain: DomainName) -> None:
        """Take a domain off a person's list, if it is there."""
        ...

    def has(self, user_id: int, domain: DomainName) -> bool:
        """Tell whether a domain is on a person's list."""
        ...

    def of(self, user_id: int, count: int) -> Sequence[WatchedDomain]:
        """Give the first so many domains of a person's list, by name."""
        ...


class Watched(Protocol):
    """The watched domains, as the schedule sees them."""

    def due(self, every: timedelta, count: int) -> Sequence[DomainName]:
        """Give at most count watched domains that should be fetched again, longest due first.

        Units: every is the age of the last fetch of any outcome from which a domain is due, and
        up to a quarter of it later, at a moment that is its own: domains that were read together
        do not come due together. A domain that was never read is due within a quarter of `every`
        after it was first watched. Shape: none of them has an active fetch.
        """
        ...
