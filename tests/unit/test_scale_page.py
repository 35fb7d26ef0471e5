"""The figures on the page about growth are those of the runs that lie beside it."""

import json
import re

import pytest

from tests.figures import FIGURES, PAGE, written
from tests.partitioning import statements

TABLES = ("cost", "partitions", "import")


def test_the_tables_show_the_figures_of_the_runs_beside_them() -> None:
    page, figures = PAGE.read_text("utf-8"), json.loads(FIGURES.read_text("utf-8"))

    assert tuple(figures) == TABLES
    assert [f"<!-- {table} -->" in page for table in TABLES] == [True] * len(TABLES)
    assert written(page, figures) == page


@pytest.mark.parametrize("table", TABLES)
def test_other_figures_would_give_another_page(table: str) -> None:
    page, figures = PAGE.read_text("utf-8"), json.loads(FIGURES.read_text("utf-8"))

    assert "987 minutes" in written(page, {**figures, table: {"anything": "987 minutes"}})


def test_every_statement_on_the_page_is_one_that_is_tried() -> None:
    steps = re.findall(r"<!-- sql (\w+) -->", PAGE.read_text("utf-8"))

    assert steps == ["prepare", "copy", "compare", "swap", "analyze"]
    assert all(statements(step) for step in steps)
