"""What whole answers mean: pages, nothing, and errors that name the field."""

import json
from datetime import date
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppcfetch.adapters.archive.wire import read_page, request_body, says_nothing
from ppcfetch.errors import (
    ArchiveChanged,
    ArchiveRejected,
    ArchiveThrottled,
    ArchiveUnavailable,
    PpcFetchError,
)
from ppcfetch.model.ad import AdFormat, ArchivePage, Query
from ppcfetch.model.domain import DomainName
from tests.archive_answers import NOW, answer, row
from tests.archive_answers import written as wire

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no failure."""

ASKED = Query(DomainName("bluebird.example"))
CONTEXT = {"1": 1, "2": 0, "3": 2840}
DOMAIN = {"1": "bluebird.example", "2": True}


def read(body: bytes, cursor: str | None = None) -> ArchivePage:
    return read_page(body, query=ASKED, cursor=cursor, now=NOW)


@pytest.mark.parametrize(
    ("query", "cursor", "sent"),
    [
        (ASKED, None, {"2": 100, "3": {"12": DOMAIN}, "7": CONTEXT}),
        (ASKED, "a+b/c==", {"2": 100, "3": {"12": DOMAIN}, "4": "a+b/c==", "7": CONTEXT}),
        (
            Query(ASKED.domain, AdFormat.VIDEO, date(2026, 1, 2), date(2026, 11, 30)),
            None,
            {
                "2": 100,
                "3": {"12": DOMAIN, "4": 3, "6": 20260102, "7": 20261130},
                "7": CONTEXT,
            },
        ),
    ],
)
def test_a_query_is_one_form_field_of_numbered_keys(
    query: Query, cursor: str | None, sent: dict[str, Any]
) -> None:
    form = parse_qs(request_body(query, cursor).decode("ascii"), strict_parsing=True)

    assert form.keys() == {"f.req"}
    assert json.loads(form["f.req"][0]) == sent


def test_a_query_for_a_format_without_a_code_is_refused_before_it_is_sent() -> None:
    with pytest.raises(ArchiveRejected, match="unknown"):
        request_body(Query(ASKED.domain, AdFormat.UNKNOWN), None)


@pytest.mark.parametrize(
    "body", [b"{}", b")]}'\n{}", b'{"1":[]}', b'{"1":null,"2":""}', b'{"77":[1,{}]}']
)
def test_an_answer_without_rows_cursor_and_total_says_nothing(body: bytes) -> None:
    page = read(body)

    assert says_nothing(page)


@pytest.mark.parametrize("body", [b"", b" \n", b")]}'\n"])
def test_a_body_without_an_answer_is_an_error_to_try_again(body: bytes) -> None:
    with pytest.raises(ArchiveUnavailable, match="answer is empty"):
        read(body)


@pytest.mark.parametrize(
    "body", [wire(answer(row())), b'{"4":"0","5":"0"}', b'{"2":"next"}', b")]}'" + wire(answer())]
)
def test_an_answer_with_any_of_them_says_something(body: bytes) -> None:
    page = read(body)

    assert not says_nothing(page)


def test_an_empty_page_with_a_cursor_goes_on_with_a_warning() -> None:
    page = read(b'{"2":"next","4":"1000","5":"2000"}')

    assert (page.ads, page.next_cursor) == ((), "next")
    assert page.warnings == ("1 × page without rows before the last one",)


def test_more_rows_than_were_asked_for_are_kept_with_a_warning() -> None:
    page = read(wire(answer(*(row(number) for number in range(101)))))

    assert len(page.ads) == 101
    assert page.warnings == ("1 × page of more than 100 rows",)


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ([], "body"),
        ("text", "body"),
        (None, "body"),
        ({"1": {}}, "1"),
        ({"1": [1, "x", []]}, "1[0]"),
        ({"1": [None]}, "1[0]"),
        ({"1": [{}]}, "1[0].1"),
        ({"1": [row(k1="AR1"), row(k2="CR1")]}, "1[0].1"),
        ({"1": [row(k2="CR1")]}, "1[0].2"),
        (answer(row(), [], row(k1=7)), "1[2].1"),
        (answer(row(), row(), row(), row(k6={"1": 1780391316})), "1[3].6.1"),
        (answer(row(k6="2026-06-02")), "1[0].6"),
        (answer(row(k7={"1": "1780391316", "2": "5"})), "1[0].7.2"),
        (answer(row(k4="1")), "1[0].4"),
        (answer(row(k4=True)), "1[0].4"),
        (answer(row(k12=["x"])), "1[0].12"),
        (answer(row(k13=3.5)), "1[0].13"),
        (answer(row(k3=[])), "1[0].3"),
        (answer(row(k3={"1": "x"})), "1[0].3.1"),
        (answer(row(k3={"3": {"2": {}}})), "1[0].3.3.2"),
        (answer(row(), k2=5), "2"),
        (answer(row(), k2="x" * 5000), "2"),
        (answer(row(), k2="two\nlines"), "2"),
        (answer(row(), k4=1), "4"),
        (answer(row(), k5=1), "5"),
        (answer(*(row(number) for number in range(1001))), "1"),
    ],
)
def test_another_shape_is_a_change_that_names_the_field(value: Any, field: str) -> None:
    with pytest.raises(ArchiveChanged) as changed:
        read(wire(value))

    assert changed.value.field == field
    assert len(str(changed.value)) < 200


def test_the_cursor_that_was_sent_must_not_come_back() -> None:
    with pytest.raises(ArchiveChanged) as changed:
        read(wire(answer(row(), k2="same")), cursor="same")

    assert changed.value.field == "2"


@pytest.mark.parametrize("nested", [b"[" * 100_000, b'{"1":' * 100_000])
@pytest.mark.parametrize("key", [b"1", b"99"])
def test_an_answer_nested_too_deeply_is_a_change_of_the_body(key: bytes, nested: bytes) -> None:
    with pytest.raises(ArchiveChanged) as changed:
        read(b'{"' + key + b'":' + nested)

    assert changed.value.field == "body"


@pytest.mark.parametrize(
    "body",
    [
        wire(answer(row(1), row(2)))[:-1],
        wire(answer(row(1), row(2)))[:200],
        b"{",
        b"{}{}",
        b'{"1":NaN}',
        b'{"2":"\xff"}',
        b"\x00",
        b"not json",
    ],
)
def test_half_an_answer_is_worth_asking_again(body: bytes) -> None:
    with pytest.raises(ArchiveUnavailable, match="cut or damaged"):
        read(body)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"2":"com.x.BadRequestException: no","5":400,"9":3}', ArchiveRejected),
        (b'{"2":"java.lang.IllegalStateException"}', ArchiveRejected),
        (b'{"5":400,"9":3}', ArchiveRejected),
        (b'{"5":429,"9":8}', ArchiveThrottled),
        (b'{"5":500,"9":13}', ArchiveUnavailable),
    ],
)
def test_an_error_that_comes_as_if_all_were_well_is_still_one(
    body: bytes, kind: type[PpcFetchError]
) -> None:
    with pytest.raises(kind):
        read(body)


def test_the_archives_own_words_are_repeated_short_and_on_one_line() -> None:
    with pytest.raises(ArchiveRejected) as rejected:
        read(wire({"2": "Exception:\x1b[31m\n\u202e" + "x" * 5000}))

    message = str(rejected.value)
    assert message.startswith("the archive rejects the request: Exception: [31m x")
    assert message.isprintable()
    assert len(message) < 250


KEYS = st.sampled_from([*map(str, range(1, 17)), "x"])
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
ODD = st.none() | st.booleans() | NUMBERS | st.text(max_size=8)
SHAPES = st.recursive(
    ODD | st.builds(row) | st.just("1780391316"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


@UNHURRIED
@given(SHAPES.map(wire) | st.binary(max_size=64))
def test_any_body_gives_a_page_or_an_error_of_ours(body: bytes) -> None:
    outcome = outcome_of(body)

    if isinstance(outcome, ArchivePage):
        assert outcome.total is None or outcome.total.lower <= outcome.total.upper
        assert len(outcome.warnings) < 30
    else:
        assert len(str(outcome)) < 300


@UNHURRIED
@given(st.dictionaries(KEYS, SHAPES, max_size=6))
def test_any_row_beside_a_good_one_costs_itself_or_is_named(odd: dict[str, Any]) -> None:
    outcome = outcome_of(wire(answer(row(1), odd)))

    if isinstance(outcome, ArchivePage):
        assert outcome.ads
    else:
        assert isinstance(outcome, ArchiveChanged)
        assert outcome.field.startswith("1[1].")


def outcome_of(body: bytes) -> ArchivePage | PpcFetchError:
    try:
        return read(body)
    except (ArchiveChanged, ArchiveRejected, ArchiveThrottled, ArchiveUnavailable) as refused:
        return refused
