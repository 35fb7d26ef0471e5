"""What `archive read` shows of an answer that somebody kept."""

import pytest

from ppcfetch.adapters.archive.reading import as_lines, read_recorded
from ppcfetch.errors import ArchiveChanged, ArchiveUnavailable
from tests.archive_answers import ADVERTISER, PICTURE, answer, creative, row
from tests.archive_answers import written as wire


def test_each_ad_of_a_recorded_answer_is_one_flat_line() -> None:
    page = read_recorded(wire(answer(row(1), row(2, k3=None, k6=None, k12=None))))

    whole, bare = as_lines(page)
    assert whole == {
        "advertiser": ADVERTISER,
        "creative": creative(1),
        "name": "Bluebird Shoes Ltd",
        "format": "text",
        "first_shown": "2026-06-02T09:08:36.063081+00:00",
        "last_shown": "2026-09-21T14:13:19.839899+00:00",
        "days_shown": 31,
        "preview": "image",
        "url": PICTURE,
        "width": 348,
        "height": 209,
    }
    assert bare["creative"] == creative(2)
    assert [name for name, value in bare.items() if value is None] == [
        "name",
        "first_shown",
        "url",
        "width",
        "height",
    ]


def test_a_recorded_answer_without_ads_gives_no_lines() -> None:
    assert list(as_lines(read_recorded(b"{}"))) == []


def test_an_empty_file_is_no_recorded_answer() -> None:
    with pytest.raises(ArchiveUnavailable, match="answer is empty"):
        read_recorded(b"")


def test_a_recorded_answer_of_another_shape_names_the_field() -> None:
    with pytest.raises(ArchiveChanged) as changed:
        read_recorded(wire(answer(row(k4="text"))))

    assert changed.value.field == "1[0].4"
