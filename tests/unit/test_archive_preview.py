"""Reading the picture out of inline content: quickly in the usual shape, carefully in any."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ppcfetch.adapters.archive.preview import Picture, read_img, read_usual_img
from tests.archive_answers import IMG, PICTURE

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no failure."""


@pytest.mark.parametrize(
    ("markup", "picture"),
    [
        (IMG, (PICTURE, "348", "209")),
        (IMG.replace('"', "'"), (PICTURE, "348", "209")),
        ("<p>x</p><IMG SRC=//a.example/b ><img src=c>", ("//a.example/b", None, None)),
        ('<img src="a?b=1&amp;c=2">', ("a?b=1&c=2", None, None)),
        ("<?xml version='1.0'?><img src='a'/>", ("a", None, None)),
        ("<img>", (None, None, None)),
        ("<img", None),
        ("<image src=a>", None),
        ("img.png", None),
        ("", None),
        ("<img " + "x" * 70_000 + " src=a>", None),
    ],
)
def test_the_first_picture_is_read_from_any_markup(markup: str, picture: Picture | None) -> None:
    assert read_img(markup) == picture


def test_the_usual_shape_needs_no_parser() -> None:
    assert read_usual_img(IMG) == (PICTURE, "348", "209")


ADDRESS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40) | st.text()
NUMBER = st.text("0123456789", max_size=6) | st.text(max_size=4)


@UNHURRIED
@given(src=ADDRESS, height=NUMBER, width=NUMBER, tail=st.sampled_from([">", "/>", "", "> ", ">\n"]))
@example(src="https://a.example/?b=1&amp;c=2", height="1", width="1", tail=">")
@example(src="a`b\\c", height="01", width="0", tail=">")
@example(src="a'b", height="1", width="1", tail=">\n")
def test_the_quick_reader_says_what_the_careful_one_says_or_leaves_it_to_him(
    src: str, height: str, width: str, tail: str
) -> None:
    markup = f'<img src="{src}" height="{height}" width="{width}"{tail}'

    quick = read_usual_img(markup)

    assert quick is None or quick == read_img(markup)


@UNHURRIED
@given(st.text(), st.text())
def test_no_markup_makes_the_careful_reader_fail(before: str, after: str) -> None:
    picture = read_img(f"{before}<img {after}")

    assert picture is None or len(picture) == 3
