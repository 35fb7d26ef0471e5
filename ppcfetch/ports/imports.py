"""Asking for many domains at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason, Reach
from ppcfetch.model.job import Pool


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of every domain. Units: window is how old a domain may be to be fresh."""

    reason: FetchReason
    window: timedelta
    reach: Reach = field(default_factory=Reach)


@dataclass(frozen=True, slots=True)
class Answered:
    """How many domains were fresh or fetched already, and the jobs to ring for."""

    fresh: int
    active: int
    jobs: tuple[tuple[int, Pool], ...] = ()


class Imports(Protocol):
    """Requests for many domains, each given once."""

    def ask(self, domains: Sequence[DomainName], wish: Wish) -> Answered:
        """Make a fetch with its first job for each that is neither fresh nor active.

        In one transaction; nobody's limit is asked for. The jobs wait for their turn; those to
        ring for were let in by the way, whosever they are.
        """
        ...

    def look(self, domains: Sequence[DomainName], wish: Wish) -> Answered:
        """Tell what asking would find, and change nothing."""
        ...
