"""Watching: domains that somebody wants to be kept fresh."""

from dataclasses import dataclass
from datetime import datetime

from ppcfetch.model.domain import DomainName


@dataclass(frozen=True, slots=True)
class WatchedDomain:
    """One line of a person's list.

    Shape: checked_at is the end of the last fetch that read the domain to its end, None when
    there was none; is_active tells that a fetch is under way.
    """

    domain: DomainName
    checked_at: datetime | None
    ads: int
    is_active: bool = False


@dataclass(frozen=True, slots=True)
class WatchFacts:
    """How many domains are watched; due is None while nothing is scheduled."""

    watched: int
    due: int | None
