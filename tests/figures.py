"""Figures of benchmarks in `docs/scale.json`, and the tables of them in `docs/scale.md`.

`FIGURES=docs/scale.json make bench ONLY=partitions` takes the figures of that run over, and
`python -m tests.figures` writes the page's tables anew.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "scale.md"
FIGURES = DOCS / "scale.json"

Figures = Mapping[str, Mapping[str, str]]
"""Of each table the words of each line and what stands beside them."""


def keep(table: str, words: str, figure: str) -> None:
    """Print a figure, and take it over where the environment names a file for that."""
    print(f"\n{table}, {words}: {figure}")  # noqa: T201 - a benchmark tells what it found
    if named := os.environ.get("FIGURES"):
        file = Path(named)
        kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
        kept.setdefault(table, {})[words] = figure
        file.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")


def written(page: str, figures: Figures) -> str:
    """Give the page with its tables made of these figures."""
    for table, lines in figures.items():
        rows = [f"| {words} | {figure} |" for words, figure in lines.items()]
        content = "\n".join(["| Figure | Value |", "| --- | --- |", *rows])
        page = re.sub(
            f"(<!-- {table} -->\n).*?(<!-- end -->)",
            lambda match, content=content: f"{match[1]}{content}\n{match[2]}",  # type: ignore[misc]
            page,
            flags=re.DOTALL,
        )
    return page


def main() -> None:
    """Write the tables of the page."""
    figures = json.loads(FIGURES.read_text("utf-8"))
    PAGE.write_text(written(PAGE.read_text("utf-8"), figures), "utf-8")


if __name__ == "__main__":
    main()
