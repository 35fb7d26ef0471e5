"""Marks of lists of ads."""

import base64
import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppcfetch.adapters.database.ad_marks import Mark, read_mark
from ppcfetch.model.page import AdSort

ids = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=64)
marks = st.builds(
    Mark,
    st.sampled_from(AdSort),
    st.none() | st.datetimes(timezones=st.just(UTC)),
    ids,
    ids,
)


@given(marks)
def test_a_mark_is_read_as_it_was_written(mark: Mark) -> None:
    text = mark.encoded()

    assert read_mark(text, mark.sort) == mark
    assert re.fullmatch(r"[A-Za-z0-9_-]+", text)


def test_a_mark_of_usual_ids_fits_into_a_link() -> None:
    mark = Mark(
        AdSort.FIRST_SHOWN, datetime(2026, 11, 1, tzinfo=UTC), "AR" + "1" * 20, "CR" + "2" * 20
    )

    assert len(mark.encoded()) < 200


@given(st.text(max_size=500))
def test_any_other_text_is_no_mark(text: str) -> None:
    assert read_mark(text, AdSort.LAST_SHOWN) is None


@pytest.mark.parametrize(
    "parts",
    [
        [],
        {},
        None,
        ["first_shown", 1, "AR1", "CR1"],
        ["last_shown", 1.5, "AR1", "CR1"],
        ["last_shown", True, "AR1", "CR1"],
        ["last_shown", "1", "AR1", "CR1"],
        ["last_shown", 10**30, "AR1", "CR1"],
        ["last_shown", -(10**18), "AR1", "CR1"],
        ["last_shown", 1, "AR\0", "CR1"],
        ["last_shown", 1, "", "CR1"],
        ["last_shown", 1, "AR1", "C" * 65],
        ["last_shown", 1, "AR1", "CR\ud800"],
        ["last_shown", 1, "AR1", 7],
        ["last_shown", 1, "AR1", "CR1", 1],
    ],
)
def test_what_was_tampered_with_is_no_mark(parts: object) -> None:
    text = base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")

    assert read_mark(text, AdSort.LAST_SHOWN) is None
