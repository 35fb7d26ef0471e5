"""Each clause of the lease protocol has tests, and they are there under the names it gives."""

from functools import cache

import pytest

from tests.simulation.clauses import CLAUSES
from tests.source import sources


@cache
def known_tests() -> frozenset[str]:
    """Give all tests as file::name."""
    return frozenset(
        f"{source}::{function.name}"
        for source in sources("tests")
        for function in source.functions()
    )


@pytest.mark.parametrize("clause", CLAUSES)
def test_the_tests_of_a_clause_are_there(clause: str) -> None:
    assert CLAUSES[clause]
    assert [name for name in CLAUSES[clause] if name not in known_tests()] == []
