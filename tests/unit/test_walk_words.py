"""Walks and fetches in words."""

from datetime import date

import pytest

from ppcfetch.model.ad import AdFormat
from ppcfetch.model.fetch import FetchKind, FetchState, told_kind
from ppcfetch.model.job import JobKind
from ppcfetch.model.parts import FIRST_DAY
from ppcfetch.model.walk_words import ALL, told_of_dead, walk_in_words
from tests.site import NOW, a_fetch

JUNE = date(2026, 6, 1)
JULY = date(2026, 7, 31)


@pytest.mark.parametrize(
    ("format_", "first", "last", "words"),
    [
        (None, None, None, ALL),
        (AdFormat.VIDEO, None, None, "video ads"),
        (None, FIRST_DAY, JULY, "ads last shown until 2026-07-31"),
        (AdFormat.TEXT, FIRST_DAY, JULY, "text ads last shown until 2026-07-31"),
        (AdFormat.TEXT, JUNE, JULY, "text ads last shown from 2026-06-01 to 2026-07-31"),
    ],
)
def test_a_part_is_named_by_what_it_reads(
    format_: AdFormat | None, first: date | None, last: date | None, words: str
) -> None:
    assert walk_in_words(JobKind.WALK, format_, first, last) == words


def test_a_top_up_is_named_by_what_it_is_for() -> None:
    assert walk_in_words(JobKind.TOP_UP, None, None, None) == "what was shown meanwhile"


@pytest.mark.parametrize(
    ("what", "dead", "told"),
    [
        (ALL, 1, "400"),
        ("video ads", 1, "video ads: 400"),
        ("video ads", 2, "video ads and another part: 400"),
        ("video ads", 3, "video ads and 2 other parts: 400"),
    ],
)
def test_what_died_is_named_unless_it_was_to_read_everything(
    what: str, dead: int, told: str
) -> None:
    assert told_of_dead(what, "400", dead=dead) == told


def test_a_dead_part_without_a_reason_is_named_too() -> None:
    assert told_of_dead("video ads", None, dead=1) == "video ads: no reason was kept"
    assert told_of_dead(ALL, None, dead=1) is None


@pytest.mark.parametrize(
    ("told", "changes"),
    [
        ("a full walk", {}),
        ("a refresh down to 2026-11-30", {"kind": FetchKind.REFRESH, "until": NOW}),
        # A refresh that met the archive's end, or its disorder, has read everything.
        ("a full walk", {"until": NOW}),
        ("a full walk, since the archive broke its order", {"until": NOW, "in_order": False}),
        ("a full walk, in 1,204 parts", {"parts": 1_204}),
        ("a full walk, topped up once", {"top_ups": 1}),
        ("a full walk, in 3 parts, topped up twice", {"parts": 3, "top_ups": 2}),
        (
            "a refresh down to 2026-11-30, topped up 3 times",
            {"kind": FetchKind.REFRESH, "until": NOW, "top_ups": 3},
        ),
    ],
)
def test_a_fetch_is_named_by_how_far_it_walks_and_in_which_pieces(
    told: str, changes: dict[str, object]
) -> None:
    assert told_kind(a_fetch(FetchState.DONE, **changes)) == told
