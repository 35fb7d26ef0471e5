"""The matrix sees what it is there for: without a safeguard a crash is not survived."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.mutants import Mutant
from tests.simulation.sabotage import copy_sabotaged

SABOTAGES = (
    Mutant(
        "the checkpoint is stored with the page",
        "ppcfetch/adapters/database/page_statements.py",
        "SET cursor = %(cursor)s, mark",
        "SET mark",
        "after/pages.write_page:plain:2:kill",
    ),
    Mutant(
        "what a dead worker held is taken over",
        "workers/intake.py",
        "or self._abandoned(free)",
        "or ()",
        "after/jobs.take:plain:1:kill",
    ),
)
"""Each is caught by the case that is named where other mutants name a test."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda one: one.clause)
def test_a_crash_is_not_survived_without(sabotage: Mutant, tmp_path: Path) -> None:
    """The same case passes in the matrix, where nothing was taken out."""
    copy = tmp_path / "copy"
    copy_sabotaged(copy, sabotage)

    code, told = crash(copy, sabotage.caught_by)

    assert code == 1, told
    assert f"1 of 1:\nE         {sabotage.caught_by}\n" in told


def crash(copy: Path, case: str) -> tuple[int, str]:
    """Run one case of the matrix over a copy; gives the exit code of its test and what it told."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith("PYTEST")}
    done = subprocess.run(
        [*(sys.executable, "-B", "-m", "pytest"), "-q", "-p", "no:cacheprovider",
         "tests/e2e/test_crash_matrix.py", "-k", "no_crash_at_any_step"],
        env={**kept, "CRASH_CASE": f"^{case}$", "SOAK": "1", "PYTHONPATH": str(copy)},
        cwd=copy, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr
