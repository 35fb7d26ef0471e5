"""What is bound as a binary array is what the database reads, whatever the values are."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppcfetch.adapters.database.page_arrays import array, teach
from tests.servers import libpq

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
MOMENT = st.datetimes(datetime(1970, 1, 1), datetime(9999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone

KINDS = st.one_of(
    st.tuples(st.just("text"), st.lists(st.none() | TEXT)),
    st.tuples(st.just("int2"), st.lists(st.none() | st.integers(-(2**15), 2**15 - 1))),
    st.tuples(st.just("int4"), st.lists(st.none() | st.integers(-(2**31), 2**31 - 1))),
    st.tuples(st.just("timestamptz"), st.lists(st.none() | MOMENT)),
)


@pytest.fixture(scope="module")
def connection(databases: Any) -> Iterator[psycopg.Connection[Any]]:
    """Give a connection that has learned arrays."""
    with psycopg.connect(libpq(databases.server.url), autocommit=True) as made:
        made.execute("SET timezone = 'UTC'")
        teach(made)
        yield made


@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(KINDS)
def test_a_bound_array_comes_back_as_it_was(
    connection: psycopg.Connection[Any], column: tuple[str, list[Any]]
) -> None:
    kind, values = column

    rows = connection.execute("SELECT unnest(%b)", [array(kind, values)]).fetchall()

    assert [value for (value,) in rows] == values


@pytest.mark.parametrize("values", [[], [None], [1], [2**31 - 1, None]])
def test_an_array_keeps_its_type_whatever_is_in_it(
    connection: psycopg.Connection[Any], values: list[int | None]
) -> None:
    row = connection.execute("SELECT pg_typeof(%b)::text", [array("int4", values)]).fetchone()

    assert row == ("integer[]",)
