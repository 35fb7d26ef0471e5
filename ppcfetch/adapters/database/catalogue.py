"""Everything that can be looked at: one snapshot for each page, and nothing is ever written."""

from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Engine

from ppcfetch.adapters.database.catalogue_ads import list_ads, one_ad
from ppcfetch.adapters.database.catalogue_domain import (
    domain_page,
    largest_advertisers,
    one_fetch,
    progress_page,
)
from ppcfetch.adapters.database.catalogue_search import count_all, find, one_advertiser
from ppcfetch.adapters.database.snapshots import snapshot
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch
from ppcfetch.model.page import (
    AdPage,
    AdQuery,
    AdvertiserPage,
    Counts,
    DomainPage,
    Hits,
    ProgressPage,
)
from ppcfetch.ports import DomainSummary

SUMMARY_ADVERTISERS = 100


class Catalogue:
    """What the site and the commands read; also the port `ppcfetch.ports.Watching`.

    Shape: numbers on one page agree with each other, and its `now` is the database's.
    Units: lease is how long silence of a worker is believed to be life.
    Raises: DatabaseUnavailable from every method.
    """

    def __init__(self, engine: Engine, lease: timedelta = timedelta(seconds=60)) -> None:
        self._engine = engine
        self._lease = lease

    def domain_page(self, query: AdQuery, limit: int) -> DomainPage:
        """Give a domain's page with a stretch of its ads; of an unknown one, with known False.

        Shape: an unreadable mark counts as the beginning.
        """
        if query.advertiser_id is not None:
            query = replace(query, advertiser_id=_storable(query.advertiser_id))
        with snapshot(self._engine) as connection:
            page = domain_page(connection, query.domain, self._lease)
            return replace(page, listed=list_ads(connection, query, limit)) if page.ads else page

    def progress(self, domain: DomainName) -> ProgressPage:
        """Give what of that page changes while a fetch runs. Raises: NotFound."""
        with snapshot(self._engine) as connection:
            return progress_page(connection, domain, self._lease)

    def ad(self, advertiser_id: str, creative_id: str) -> AdPage:
        """Give one ad. Raises: NotFound."""
        with snapshot(self._engine) as connection:
            return one_ad(connection, _storable(advertiser_id), _storable(creative_id))

    def advertiser(self, advertiser_id: str) -> AdvertiserPage:
        """Give one advertiser. Raises: NotFound."""
        with snapshot(self._engine) as connection:
            return one_advertiser(connection, _storable(advertiser_id))

    def fetch(self, fetch_id: int) -> Fetch:
        """Give one fetch. Raises: NotFound."""
        with snapshot(self._engine) as connection:
            return one_fetch(connection, fetch_id)

    def search(self, words: str, limit: int) -> Hits:
        """Give domains that begin with the words and advertisers whose name contains them."""
        with snapshot(self._engine) as connection:
            return find(connection, _storable(words), limit)

    def counts(self) -> Counts:
        """Give how much is held of everything, roughly."""
        with snapshot(self._engine) as connection:
            return count_all(connection)

    def summary(self, domain: DomainName) -> DomainSummary:
        """Give the domain's counters. Raises: NotFound."""
        with snapshot(self._engine) as connection:
            page = progress_page(connection, domain, self._lease)
            largest = largest_advertisers(connection, domain, SUMMARY_ADVERTISERS)
        return DomainSummary(
            page.ads, [(each.advertiser_id, each.name, each.ads) for each in largest]
        )


def _storable(text: str) -> str:
    """Give the text without what PostgreSQL refuses to hear of, so that it finds nothing."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
