"""Each sabotage still fits the source that it sabotages."""

import pytest

from tests.simulation.mutants import ALL, SIMULATION, Mutant
from tests.source import ROOT


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.clause)
def test_the_line_to_sabotage_stands_in_the_source_exactly_once(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")

    assert text.count(mutant.old) == 1
    assert mutant.applied_to(text) != text


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.clause)
def test_the_tests_that_must_catch_it_are_there(mutant: Mutant) -> None:
    files = [] if mutant.caught_by == SIMULATION else mutant.caught_by.split()

    assert all((ROOT / file).is_file() for file in files)


def test_no_sabotage_is_tried_twice() -> None:
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in ALL}) == len(ALL)
