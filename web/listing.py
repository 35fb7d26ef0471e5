"""Which ads a page lists, and the links that change it: one address for each view."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flask import url_for

from ppcfetch.model.ad import AdFormat
from ppcfetch.model.domain import DomainName
from ppcfetch.model.page import AdQuery, AdSort
from web.text import plain

LONGEST_MARK = 200
LONGEST_ID = 64
SORT_WORDS = {AdSort.LAST_SHOWN: "last shown", AdSort.FIRST_SHOWN: "first shown"}


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter as a link; the one that is on leads back to all."""

    words: str
    address: str
    count: int | None = None
    is_on: bool = False
    removes: bool = True


def query_from(domain: DomainName, arguments: Mapping[str, str]) -> AdQuery:
    """Read the query string; what is not understood counts as left out."""
    after = arguments.get("after", "")[:LONGEST_MARK] or None
    return AdQuery(
        domain=domain,
        format=_format(arguments.get("format", "")),
        advertiser_id=arguments.get("advertiser", "")[:LONGEST_ID] or None,
        sort=_sort(arguments.get("sort", "")),
        after=after,
        before=None if after else arguments.get("before", "")[:LONGEST_MARK] or None,
    )


def address_of(query: AdQuery) -> str:
    """Give the address of a view: arguments in a fixed order, defaults left out."""
    return url_for(
        "domains.show",
        domain=query.domain.name,
        format=query.format.value if query.format else None,
        advertiser=query.advertiser_id,
        sort=query.sort.value if query.sort is not AdSort.LAST_SHOWN else None,
        after=query.after,
        before=query.before,
        _anchor="ads",
    )


@dataclass(frozen=True, slots=True)
class Listing:
    """The links around a list of ads.

    Shape: formats counts the domain's ads of each format; name is that of the chosen
    advertiser, when it is known.
    """

    query: AdQuery
    formats: Mapping[AdFormat, int]
    name: str | None = None

    @property
    def is_plain(self) -> bool:
        """Tell whether this is the view without any choice."""
        return self.query == AdQuery(self.query.domain)

    @property
    def chips(self) -> tuple[Chip, ...]:
        """The chosen advertiser, all formats together, and each that the domain has."""
        top = self._top
        every = address_of(replace(top, format=None))
        chips = [Chip("all formats", every, is_on=top.format is None, removes=False)]
        for kind, count in self.formats.items():
            if count:
                is_on = top.format is kind
                target = replace(top, format=None if is_on else kind)
                words = "other" if kind is AdFormat.UNKNOWN else kind.value
                chips.append(Chip(words, address_of(target), count, is_on))
        if top.advertiser_id:
            words = plain(self.name) or top.advertiser_id
            chips.append(Chip(words, address_of(replace(top, advertiser_id=None)), is_on=True))
        return tuple(chips)

    @property
    def sorts(self) -> tuple[Chip, ...]:
        """The orders, the present one marked."""
        return tuple(
            Chip(words, address_of(replace(self._top, sort=sort)), is_on=sort is self.query.sort)
            for sort, words in SORT_WORDS.items()
        )

    def by_advertiser(self, advertiser_id: str) -> str:
        """Give the address of one advertiser's ads."""
        return address_of(AdQuery(self.query.domain, advertiser_id=advertiser_id))

    def older(self, mark: str) -> str:
        """Give the address of what follows a mark."""
        return address_of(replace(self._top, after=mark))

    def newer(self, mark: str) -> str:
        """Give the address of what comes before a mark."""
        return address_of(replace(self._top, before=mark))

    @property
    def _top(self) -> AdQuery:
        return replace(self.query, after=None, before=None)


def _format(text: str) -> AdFormat | None:
    try:
        return AdFormat(text)
    except ValueError:
        return None


def _sort(text: str) -> AdSort:
    try:
        return AdSort(text)
    except ValueError:
        return AdSort.LAST_SHOWN
