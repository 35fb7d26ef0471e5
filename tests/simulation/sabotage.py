"""Try each mutant on a copy of the project, and print what caught it.

The copy without any sabotage has to pass the same seeds and tests first.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.simulation.mutants import ALL, SIMULATION, Mutant
from tests.source import ROOT

SEEDS = 200
LONGEST_RUN_SECONDS = 300
COPIED = ("ppcfetch", "web", "workers", "migrations", "fixtures", "tests", "pyproject.toml")
SEED = re.compile(r"^seed (\d+); replay", re.MULTILINE)
TEST = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a run: the seed or test that failed first, empty when none did."""

    caught_by: str
    output: str


def main() -> int:
    """Give 1 when a mutant got away, or when the unmutated code did not pass."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", default="", help="a part of clause, file or catcher")
    asked = arguments.parse_args()
    chosen = [one for one in ALL if asked.only in f"{one.clause} {one.file} {one.caught_by}"]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copy_project(copy)
        if not _passes_unmutated(copy, chosen):
            return 1
        survivors = [one for one in chosen if not _try(copy, one)]
    _say(f"\n{len(chosen) - len(survivors)} of {len(chosen)} mutants were caught")
    return int(bool(survivors))


def copy_project(copy: Path) -> None:
    """Copy what runs and what tests it, for a sabotage that must not be seen elsewhere."""
    copy.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    (copy / "README.md").touch()


def copy_sabotaged(copy: Path, mutant: Mutant) -> None:
    """Copy the project with one safeguard taken out."""
    copy_project(copy)
    file = copy / mutant.file
    whole = file.read_text(encoding="utf-8")
    assert whole.count(mutant.old) == 1, f"{mutant.clause} does not fit {mutant.file}"
    file.write_text(mutant.applied_to(whole), encoding="utf-8")


def _passes_unmutated(copy: Path, chosen: Sequence[Mutant]) -> bool:
    for catcher in sorted({one.caught_by for one in chosen}):
        verdict = _run(copy, catcher)
        if verdict.caught_by:
            _say(f"without any sabotage {catcher} fails:\n{verdict.output}")
            return False
    return True


def _try(copy: Path, mutant: Mutant) -> bool:
    began = time.monotonic()
    file = copy / mutant.file
    whole = file.read_text(encoding="utf-8")
    if whole.count(mutant.old) != 1:
        _say(f"{mutant.clause:70s}  DOES NOT FIT {mutant.file}")
        return False
    file.write_text(mutant.applied_to(whole), encoding="utf-8")
    try:
        verdict = _run(copy, mutant.caught_by)
    finally:
        file.write_text(whole, encoding="utf-8")
    took = time.monotonic() - began
    said = verdict.caught_by or f"NOT CAUGHT by {mutant.caught_by}"
    _say(f"{mutant.clause:70s}  {said}  ({took:.0f} s)")
    return bool(verdict.caught_by)


def _run(copy: Path, catcher: str) -> Verdict:
    if catcher == SIMULATION:
        return _judged(copy, _simulation(), _seed_of)
    return _judged(copy, _tests(catcher), _test_of)


def _simulation() -> list[str]:
    return ["tests.simulation", "--seeds", str(SEEDS), "--most-broken", "1"]


def _tests(catcher: str) -> list[str]:
    quick = ["-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--no-header"]
    return ["pytest", *quick, *catcher.split()]


def _judged(copy: Path, module: list[str], name: Callable[[str], str]) -> Verdict:
    # Compiled code must not outlive the text that it was made of.
    command = [sys.executable, "-B", "-m", *module]
    try:
        done = subprocess.run(
            command, cwd=copy, capture_output=True, text=True, timeout=LONGEST_RUN_SECONDS,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Verdict("a run without end", "")
    output = done.stdout + done.stderr
    return Verdict(name(output) if done.returncode else "", output)


def _seed_of(output: str) -> str:
    found = SEED.search(output)
    return f"seed {found[1]}" if found else "a crash"


def _test_of(output: str) -> str:
    found = TEST.search(output)
    return found[1] if found else "a crash"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
