"""Import a list: ask for each domain that is stale, many in one transaction."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import structlog

from ppcfetch.errors import StreamUnavailable
from ppcfetch.model.domain import DomainName
from ppcfetch.model.domain_list import Entry
from ppcfetch.model.job import Pool
from ppcfetch.ports import Doorbell, Imports, Wish

BATCH = 500
MOST_TOLD = 1000
"""Refused lines that are told one by one; more are counted."""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a list's lines.

    Shape: asked counts the fetches that were made, or would be in a dry run; lines is the last
    line that was dealt with; refused has the first MOST_TOLD of the refusals.
    """

    lines: int = 0
    asked: int = 0
    duplicate: int = 0
    fresh: int = 0
    active: int = 0
    refusals: int = 0
    refused: tuple[Entry, ...] = ()

    @property
    def valid(self) -> int:
        """Lines with a domain, each domain counted as often as it is there."""
        return self.asked + self.duplicate + self.fresh + self.active


def import_domains(
    entries: Iterable[Entry],
    wish: Wish,
    *,
    imports: Imports,
    doorbell: Doorbell,
    told: Callable[[Report], None],
    dry_run: bool = False,
) -> Report:
    """Ask for every domain of a list that is neither fresh nor fetched already.

    Shape: told is given the report after each batch. Whatever ends it, what was told is stored:
    importing the same list again goes on, since what is active or fresh by then is passed over.
    Raises: DatabaseUnavailable.
    """
    report, seen = Report(), set[str]()
    source = iter(entries)
    while batch := list(islice(source, BATCH)):
        names = _new(batch, seen)
        states = imports.look(names, wish) if dry_run else imports.ask(names, wish)
        report = _added(report, batch, names, fresh=states.fresh, active=states.active)
        _ring(states.jobs, doorbell)
        told(report)
    return report


def _new(batch: Sequence[Entry], seen: set[str]) -> list[DomainName]:
    names = []
    for entry in batch:
        if entry.domain is not None and entry.domain.name not in seen:
            seen.add(entry.domain.name)
            names.append(entry.domain)
    return names


def _added(
    report: Report, batch: Sequence[Entry], names: Sequence[DomainName], *, fresh: int, active: int
) -> Report:
    refused = tuple(_refused(batch))
    valid = len(batch) - len(refused)
    return Report(
        lines=batch[-1].line,
        asked=report.asked + len(names) - fresh - active,
        duplicate=report.duplicate + valid - len(names),
        fresh=report.fresh + fresh,
        active=report.active + active,
        refusals=report.refusals + len(refused),
        refused=(report.refused + refused)[:MOST_TOLD],
    )


def _refused(batch: Iterable[Entry]) -> Iterator[Entry]:
    return (entry for entry in batch if entry.domain is None)


def _ring(jobs: Sequence[tuple[int, Pool]], doorbell: Doorbell) -> None:
    try:
        if jobs:
            doorbell.publish(jobs)
    except StreamUnavailable as silent:
        structlog.get_logger().warning("doorbell.silent", error=str(silent))
