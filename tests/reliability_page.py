"""The figures of the last full run, and the tables of them in `docs/reliability.md`.

`python -m tests.reliability_page --chaos FILE --simulation FILE --matrix FILE` takes the figures
of runs over into `docs/reliability.json` and writes the page's tables anew.
"""

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "reliability.md"
FIGURES = DOCS / "reliability.json"
RUNS = ("simulation", "matrix", "chaos")

ROWS: dict[str, tuple[tuple[str, str], ...]] = {
    "simulation": (
        ("Seeds", "seeds"),
        ("Processes killed", "kills"),
        ("Processes paused past their lease", "pauses"),
        ("Requests acknowledged", "acknowledged"),
        ("Archive pages stored", "pages"),
        ("Stale writes refused", "stale_writes_refused"),
        ("Requests or ads lost", "lost"),
        ("Pages or ads doubled", "doubled"),
        ("Slowest recovery, in leases", "slowest_recovery_in_leases"),
    ),
    "matrix": (
        ("Points at which a worker crashed", "points"),
        ("Crashes (killed, suspended for three leases, stopped)", "crashes"),
        ("Crashes after which anything was lost, doubled or stuck", "failed"),
    ),
    "chaos": (
        ("Schedules", "schedules"),
        ("Schedules that failed", "failed"),
        ("Requests acknowledged", "acknowledged"),
        ("Requests without an answer, none of them half stored", "unclear"),
        ("Archive pages stored", "pages"),
        ("Leases", "leases"),
        ("Stale writes refused", "stale_writes_refused"),
        ("Requests or ads lost", "lost"),
        ("Pages or ads doubled", "doubled"),
        ("Jobs that had to go on when the last fault ended", "active_at_quiet"),
        ("Recovery, in leases: half of the schedules within", "median_recovery_leases"),
        ("Recovery, in leases: 95 % of the schedules within", "recovery_leases_95th"),
        ("Slowest recovery, in leases", "slowest_recovery_leases"),
        ("Schedules that took more than three leases to recover", "recoveries_over_3_leases"),
        ("How many times longer work took than on cores of its own", "median_slowdown"),
    ),
}
"""What is shown of each run, as far as it counted that: the words, and the name of the figure."""


def table(run: str, figures: Mapping[str, Any]) -> str:
    """Give the table of one run, and of its faults by kind when it had any."""
    lines = ["| Figure | Value |", "| --- | ---: |"]
    lines += [
        f"| {words} | {_shown(figures[name])} |" for words, name in ROWS[run] if name in figures
    ]
    if faults := figures.get("faults"):
        lines += ["", "| Fault | Times |", "| --- | ---: |"]
        lines += [f"| {kind} | {_shown(faults[kind])} |" for kind in sorted(faults)]
    return "\n".join(lines)


def written(page: str, figures: Mapping[str, Any]) -> str:
    """Give the page with its tables made of these figures; a run that never was says so."""
    for run in RUNS:
        content = table(run, figures[run]) if run in figures else "*Not run yet.*"
        page = re.sub(
            f"(<!-- {run} -->\n).*?(\n<!-- end -->)",
            lambda match, content=content: f"{match[1]}{content}{match[2]}",  # type: ignore[misc]
            page,
            flags=re.DOTALL,
        )
    return page


def main() -> None:
    """Take the figures of the named runs over and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    for run in RUNS:
        parser.add_argument(f"--{run}", type=Path)
    asked = vars(parser.parse_args())
    kept = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    kept |= dict(_read(asked))
    FIGURES.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n", "utf-8")
    PAGE.write_text(written(PAGE.read_text("utf-8"), kept), "utf-8")


def _read(asked: Mapping[str, Path | None]) -> Iterator[tuple[str, Any]]:
    for run, file in asked.items():
        if file is not None:
            figures = json.loads(file.read_text("utf-8"))
            if "failed_seeds" in figures:
                figures["failed"] = len(figures["failed_seeds"])
            yield run, figures


def _shown(value: float) -> str:
    return f"{value:,}"


if __name__ == "__main__":
    main()
