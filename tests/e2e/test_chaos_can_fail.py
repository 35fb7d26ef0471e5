"""Chaos sees what it is there for: without a safeguard a schedule tells what it did harm to."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import short_folder
from tests.simulation.mutants import Mutant
from tests.simulation.sabotage import copy_sabotaged

SEED = 3
SABOTAGES = (
    Mutant(
        "the checkpoint is stored with the page",
        "ppcfetch/adapters/database/page_statements.py",
        "SET cursor = %(cursor)s, mark",
        "SET mark",
        r"^\d+ lost, [1-9]\d* doubled$",
    ),
    Mutant(
        "a request is stored before it is answered",
        "ppcfetch/adapters/database/fetches.py",
        "self._engine.begin() as connection:\n            asked",
        "self._engine.connect() as connection:\n            asked",
        r"^[1-9]\d* lost, 0 doubled$",
    ),
)
"""Each is caught by the words that stand where other mutants name a test."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda one: one.clause)
def test_a_schedule_fails_without(sabotage: Mutant, tmp_path: Path) -> None:
    """The same schedule is among those of every run, where nothing was taken out."""
    copy = tmp_path / "copy"
    copy_sabotaged(copy, sabotage)

    code, told = play(copy)

    assert code == 1, told
    assert re.search(sabotage.caught_by, told, re.MULTILINE), told


def play(copy: Path) -> tuple[int, str]:
    """Play one schedule over a copy; gives the exit code and what it told."""
    one = ("--first", str(SEED), "--schedules", "1")
    with short_folder() as folder:  # for what a schedule that fails leaves behind
        done = subprocess.run(
            [sys.executable, "-B", "-m", "tests.e2e.chaos", *one],
            env={**os.environ, "PYTHONPATH": str(copy), "TMPDIR": str(folder)},
            cwd=copy, capture_output=True, text=True, timeout=280, check=False,
        )  # fmt: skip
    return done.returncode, done.stdout + done.stderr
