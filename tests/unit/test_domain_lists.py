"""Lists of domains as people keep them."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppcfetch.model.domain_list import UnknownColumn, read_list


def names(lines: Sequence[str], column: str | None = None) -> list[str]:
    return [str(one.domain) for one in read_list(lines, column) if one.domain]


def refused(lines: Sequence[str]) -> list[int]:
    return [one.line for one in read_list(lines) if one.domain is None]


def test_a_plain_list_has_one_domain_a_line() -> None:
    lines = ["bluebird.example\r\n", "\n", "# old ones\n", "https://www.shop.example/a?b\n"]

    assert names(lines) == ["bluebird.example", "shop.example"]


def test_a_byte_order_mark_and_other_scripts_are_read() -> None:
    assert names(["\ufeffbücher.example\n"]) == ["xn--bcher-kva.example"]


def test_a_column_that_is_named_like_a_domain_is_found() -> None:
    lines = ["Company,Website\n", '"Bluebird, Inc.",bluebird.example\n', "Shop,shop.example\n"]

    assert names(lines) == ["bluebird.example", "shop.example"]


def test_another_column_can_be_named() -> None:
    lines = ["domain,rival\n", "one.example,two.example\n"]

    assert names(lines, "Rival") == ["two.example"]


def test_a_column_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UnknownColumn, match="no column 'url'; the first line has: company, phone"):
        names(["company,phone\n", "a,b\n"], "url")


def test_lines_without_a_domain_are_told_by_number_and_stop_nothing() -> None:
    lines = ["one.example\n", "not a domain\n", "192.0.2.1\n", "two.example\n"]

    assert names(lines) == ["one.example", "two.example"]
    assert refused(lines) == [2, 3]


def test_a_first_line_that_may_be_a_header_tells_how_to_choose_a_column() -> None:
    first, second = list(read_list(["company,rival,\x1b[31m\n", "Bluebird,one.example,x\n"]))

    hint = "looks like CSV with the columns company, rival, \\x1b[31m: choose one with --column"
    assert hint in str(first.reason)
    assert "--column" not in str(second.reason)


@pytest.mark.parametrize("line", ["one.example,a note\n", "only words\n"])
def test_a_first_line_that_is_no_header_is_not_taken_for_one(line: str) -> None:
    (entry,) = read_list([line])

    assert "--column" not in str(entry.reason)


def test_a_short_row_is_told() -> None:
    assert refused(["name,domain\n", "only a name\n", "x,shop.example\n"]) == [2]


@settings(deadline=None)
@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\r\n"), max_size=40)))
def test_no_text_ends_a_list_early(lines: list[str]) -> None:
    text = ["first.example\n", *(line + "\n" for line in lines), "last.example\n"]

    assert names(text)[-1:] == ["last.example"]
