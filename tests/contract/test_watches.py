"""Watched domains: everybody's own list, and when the schedule finds a domain due."""

from datetime import timedelta

import pytest

from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason
from ppcfetch.model.outcome import Dead, Done
from ppcfetch.ports import Wish
from tests.contract.database_rig import MOMENT, Rig

DAY = timedelta(days=1)
SHOP, CAFE = DomainName("shop.example"), DomainName("cafe.example")
MANY = [DomainName(f"shop-{number}.example") for number in range(40)]


def read(database: Rig, domain: DomainName) -> None:
    """Read a domain to its end."""
    asked = database.ask(domain.name)
    database.jobs.settle([(database.lease(asked.jobs[0][0]), Done())])


def test_a_list_is_its_owners_and_sorted_by_name(database: Rig) -> None:
    ann, ben = database.person(7), database.person(8)
    for domain in (SHOP, CAFE, SHOP):
        database.watches.add(ann, domain)

    mine, other = database.watches.of(ann, 10), database.watches.of(ben, 10)

    assert ([one.domain for one in mine], list(other)) == ([CAFE, SHOP], [])
    assert [one.domain for one in database.watches.of(ann, 1)] == [CAFE]
    assert (database.watches.has(ann, SHOP), database.watches.has(ben, SHOP)) == (True, False)


def test_a_list_tells_what_is_held_of_each_domain(database: Rig) -> None:
    ann = database.person(7)
    for domain in (SHOP, CAFE):
        database.watches.add(ann, domain)
    read(database, SHOP)
    database.ask(CAFE.name)

    cafe, shop = database.watches.of(ann, 10)

    assert (shop.checked_at is None, shop.is_active) == (False, False)
    assert (cafe.checked_at, cafe.is_active) == (None, True)


def test_what_is_taken_off_is_gone(database: Rig) -> None:
    ann = database.person(7)
    database.watches.add(ann, SHOP)

    for domain in (SHOP, CAFE):
        database.watches.remove(ann, domain)

    assert not database.watches.has(ann, SHOP)
    assert list(database.watches.of(ann, 10)) == []


def test_a_read_domain_is_due_when_it_is_that_old_and_at_the_latest_a_quarter_later(
    database: Rig,
) -> None:
    database.watches.add(database.person(7), SHOP)
    read(database, SHOP)

    database.passes(DAY - MOMENT)
    before = database.watched.due(DAY, 10)
    database.passes(DAY / 4 + 2 * MOMENT)
    after = database.watched.due(DAY, 10)

    assert (list(before), list(after)) == ([], [SHOP])


def test_domains_watched_at_once_come_due_one_after_the_other(database: Rig) -> None:
    ann = database.person(7)
    for domain in MANY:
        database.watches.add(ann, domain)

    seen = [len(database.watched.due(DAY, 100))]
    for _ in range(4):
        database.passes(DAY / 16 + MOMENT)
        seen.append(len(database.watched.due(DAY, 100)))

    assert seen == sorted(seen)
    assert seen[0] < len(MANY) / 4
    assert len(MANY) / 4 < seen[2] < len(MANY)
    assert seen[-1] == len(MANY)


def test_a_round_is_bounded(database: Rig) -> None:
    ann = database.person(7)
    for domain in MANY:
        database.watches.add(ann, domain)
    database.passes(DAY)

    due = database.watched.due(DAY, 10)

    assert len(set(due)) == 10


def test_what_two_people_watch_is_due_once(database: Rig) -> None:
    for number in (7, 8):
        database.watches.add(database.person(number), SHOP)
    database.passes(DAY)

    assert list(database.watched.due(DAY, 10)) == [SHOP]


def test_what_is_under_way_is_not_due(database: Rig) -> None:
    database.watches.add(database.person(7), SHOP)
    database.passes(DAY)

    database.imports.ask([SHOP], Wish(FetchReason.SCHEDULE, DAY))

    assert list(database.watched.due(DAY, 10)) == []


@pytest.mark.parametrize(("passed", "due"), [(DAY - MOMENT, 0), (DAY * 1.3, 1)])
def test_a_failed_fetch_is_not_tried_again_before_its_time(
    database: Rig, passed: timedelta, due: int
) -> None:
    database.watches.add(database.person(7), SHOP)
    asked = database.ask(SHOP.name)
    database.jobs.settle([(database.lease(asked.jobs[0][0]), Dead("no use"))])

    database.passes(passed)

    assert len(database.watched.due(DAY, 10)) == due
