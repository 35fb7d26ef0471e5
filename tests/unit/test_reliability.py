"""The figures on the page about reliability are those of the run that lies beside it."""

import json

import pytest

from tests.reliability_page import FIGURES, PAGE, ROWS, RUNS, written


def test_the_tables_show_the_figures_of_the_run_beside_them() -> None:
    page, figures = PAGE.read_text("utf-8"), json.loads(FIGURES.read_text("utf-8"))

    assert [f"<!-- {run} -->" in page for run in RUNS] == [True] * len(RUNS)
    assert written(page, figures) == page


@pytest.mark.parametrize("run", RUNS)
def test_other_figures_would_give_another_page(run: str) -> None:
    page, figures = PAGE.read_text("utf-8"), json.loads(FIGURES.read_text("utf-8"))
    changed = {name: 987_654_321 for _, name in ROWS[run]}

    assert "987,654,321" in written(page, {**figures, run: changed})


def test_a_published_run_lost_and_doubled_nothing_and_met_stale_writes() -> None:
    chaos = json.loads(FIGURES.read_text("utf-8"))["chaos"]

    assert (chaos["lost"], chaos["doubled"], chaos["failed_seeds"]) == (0, 0, [])
    assert chaos["stale_writes_refused"] >= 5
