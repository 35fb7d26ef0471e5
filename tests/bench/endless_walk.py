"""A walk that stores one page after the other, for as long as somebody asks for the next."""

from dataclasses import replace
from datetime import timedelta
from itertools import count

from sqlalchemy import Engine

from ppcfetch.adapters.database.pages import PostgresPages
from ppcfetch.model.ad import ArchivePage
from ppcfetch.model.lease import Lease
from tests.contract.pages_rig import NOON, ad, lease_of, page, rows, write

PAGE_SIZE = 100
ADVERTISERS = 20


class Walk:
    """A walk along a domain that never ends; each page holds ads that nobody has seen."""

    def __init__(self, engine: Engine, domain: str, *, first: int = 0) -> None:
        self.engine, self.domain = engine, domain
        self._pages = PostgresPages(engine)
        self._lease: Lease = lease_of(engine, domain)
        self._numbers = count(first)

    def store(self) -> None:
        """Write the next page."""
        progress = write(self._pages, self._lease, self._next())
        self._lease = replace(self._lease, job=progress.job)

    def held(self) -> int:
        """Count what is stored."""
        query = "SELECT count(*) AS held FROM ads WHERE domain = :domain"
        return int(rows(self.engine, query, domain=self.domain)[0]["held"])

    def _next(self) -> ArchivePage:
        numbers = [next(self._numbers) for _ in range(PAGE_SIZE)]
        return page(
            *(
                ad(
                    advertiser_id=f"AR{number % ADVERTISERS:04}",
                    creative_id=f"CR{number:09}",
                    last_shown=NOON - timedelta(minutes=number),
                    first_shown=NOON - timedelta(minutes=number, days=number % 300),
                )
                for number in numbers
            ),
            cursor=f"cursor {numbers[-1]}",
        )
