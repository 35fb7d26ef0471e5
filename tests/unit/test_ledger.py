"""The ledger: what rows and messages must say of each other."""

from collections.abc import Sequence

import pytest

from ppcfetch.model.job import Pool
from ppcfetch.usecases.ledger import (
    Difference,
    Kind,
    Look,
    Message,
    differences,
    ledger_difference,
)

BULK, FAST = Pool.BULK, Pool.INTERACTIVE


@pytest.mark.parametrize(
    ("due", "running", "undelivered", "in_hand", "difference"),
    [
        (0, 0, 0, 0, 0),
        (3, 2, 3, 2, 0),
        # delivered, and not leased yet
        (3, 2, 2, 3, 0),
        # a row whose doorbell has not been rung
        (1, 0, 0, 0, 1),
        # a message of a job that has ended
        (0, 0, 0, 1, -1),
    ],
)
def test_due_and_running_jobs_have_one_message_each(
    *, due: int, running: int, undelivered: int, in_hand: int, difference: int
) -> None:
    found = ledger_difference(due=due, running=running, undelivered=undelivered, in_hand=in_hand)

    assert found == difference


@pytest.mark.parametrize(
    ("jobs", "messages", "found"),
    [
        ([], [], []),
        ([(1, BULK)], [Message(BULK, "1-0", 1)], []),
        ([(1, BULK)], [], [Difference(Kind.SILENT, BULK, 1)]),
        ([], [Message(BULK, "1-0", 1)], [Difference(Kind.STRAY, BULK, 1, "1-0")]),
        ([], [Message(FAST, "1-0", None)], [Difference(Kind.STRAY, FAST, None, "1-0")]),
        (
            [(1, BULK)],
            [Message(FAST, "1-0", 1)],
            [Difference(Kind.ELSEWHERE, BULK, 1, "1-0")],
        ),
        (
            [(1, BULK)],
            [Message(BULK, "1-0", 1), Message(BULK, "2-0", 1)],
            [Difference(Kind.TWICE, BULK, 1, "2-0")],
        ),
        (
            [],
            [Message(BULK, "1-0", 1), Message(BULK, "2-0", 1)],
            [Difference(Kind.STRAY, BULK, 1, "2-0"), Difference(Kind.STRAY, BULK, 1, "1-0")],
        ),
    ],
)
def test_each_difference_is_named(
    jobs: Sequence[tuple[int, Pool]], messages: Sequence[Message], found: Sequence[Difference]
) -> None:
    assert differences(lambda: Look(jobs, messages)) == found


def test_what_only_one_of_two_looks_sees_was_on_its_way() -> None:
    looks = iter([Look([(1, BULK), (2, BULK)], []), Look([(2, BULK), (3, BULK)], [])])

    assert differences(lambda: next(looks)) == [Difference(Kind.SILENT, BULK, 2)]


def test_a_ledger_in_order_is_looked_at_once() -> None:
    looks = iter([Look([(1, BULK)], [Message(BULK, "1-0", 1)])])

    assert differences(lambda: next(looks)) == []
