"""What is promised about packaging, locks, commands, lint and imports, read from their files."""

import ast
import os
import re
import sys
import tomllib
from itertools import pairwise
from typing import Any

import pytest
import yaml

from tests.source import PACKAGES, ROOT, sources

PIN = re.compile(r"^([a-z0-9][a-z0-9.-]*)==([^ ;]+)(?: ; [^\\]+)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}(?: \\)?$")
TARGETS = {
    "run", "test", "check", "bench", "simulate", "soak", "mutants", "servers", "lock", "clean",
    "help",
}  # fmt: skip
DECISION_PARTS = ("**Context.**", "**Decision.**", "**Consequence.**", "**Would change our mind.**")


def test_what_is_installed_is_what_lies_here() -> None:
    wheel = configuration()["tool"]["hatch"]["build"]["targets"]["wheel"]

    assert tuple(wheel["packages"]) == PACKAGES
    assert all((ROOT / package).is_dir() for package in PACKAGES)


def test_the_oldest_python_is_the_same_for_installer_types_and_lint() -> None:
    written = configuration()

    assert written["project"]["requires-python"] == ">=3.11"
    assert written["tool"]["mypy"]["python_version"] == "3.11"
    assert written["tool"]["ruff"]["target-version"] == "py311"


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_is_made_of_pins_with_hashes_and_nothing_else(name: str) -> None:
    lines = [line for line in read(name).splitlines() if not line.startswith("#")]

    assert pins(name)
    assert [line for line in lines if not PIN.match(line) and not HASH.match(line)] == []
    assert [line for line, after in pairwise(lines) if unhashed(line, after)] == []


def test_a_lock_names_each_package_once() -> None:
    names = [
        match[1]
        for line in read("requirements-dev.lock").splitlines()
        if (match := PIN.match(line))
    ]

    assert len(names) == len(set(names))


def test_the_lock_for_tests_is_the_lock_for_running_and_more() -> None:
    running, testing = pins("requirements.lock"), pins("requirements-dev.lock")

    assert running.items() < testing.items()


def test_all_that_the_project_asks_for_is_locked() -> None:
    written = configuration()
    groups = written["dependency-groups"]

    running = names([*written["project"]["dependencies"], *groups["install"]])
    assert running <= pins("requirements.lock").keys()
    assert names(groups["dev"]) <= pins("requirements-dev.lock").keys()


def test_each_make_target_is_described_in_one_line() -> None:
    described = dict(re.findall(r"^([a-z]+):.* ## (.+)$", read("Makefile"), re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.+)$", read("Makefile"), re.MULTILINE)

    assert described.keys() == TARGETS
    assert phony
    assert set(phony[1].split()) == TARGETS


def test_the_pipeline_does_what_a_developer_does() -> None:
    script = read(".ci/run")

    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert re.findall(r"^make (\w+)$", script, re.MULTILINE) == ["check", "test"]
    assert "export REQUIRE_ALL=1" in script


def test_a_commit_runs_local_hooks_only() -> None:
    repositories = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]

    assert [repository["repo"] for repository in repositories] == ["local"]
    assert [hook["entry"] for hook in repositories[0]["hooks"]] == ["make check"]


def test_each_lint_rule_that_is_off_says_why() -> None:
    lint = (
        read("pyproject.toml")
        .partition("[tool.ruff.lint]")[2]
        .partition("[tool.ruff.lint.mccabe]")[0]
    )
    rules = re.findall(r'^\s+"[A-Z]+\d*",.*$|^"\S+" = \[.*$', lint, re.MULTILINE)

    assert configuration()["tool"]["ruff"]["lint"]["select"] == ["ALL"]
    assert len(rules) > 10
    assert [rule for rule in rules if "# " not in rule and not rule.endswith("[")] == []


def test_the_layers_are_exhaustive_and_in_their_order() -> None:
    core = contract("core")

    layers = [re.findall(r"\w+", layer) for layer in core["layers"]]
    assert core["exhaustive"] is True
    assert layers == [
        ["__main__"],
        ["cli"],
        ["bootstrap"],
        ["settings", "adapters", "usecases"],
        ["ports"],
        ["model"],
        ["errors"],
    ]


def test_the_model_needs_the_standard_library_only() -> None:
    allowed = {*sys.stdlib_module_names, "ppcfetch"}

    foreign = {
        f"{source.path.name}: {name}"
        for source in sources("ppcfetch/model")
        for name in imported(source.tree) - allowed
    }

    assert foreign <= {"domain.py: idna", "domain.py: publicsuffixlist"}


def test_each_folder_of_tests_has_its_marker() -> None:
    markers = {marker.partition(":")[0] for marker in configuration()["tool"]["pytest"]["markers"]}
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}

    assert folders
    assert folders <= markers


def test_each_decision_is_short_and_has_its_four_parts() -> None:
    entries = read("DECISIONS.md").split("\n## ")[1:]

    assert len(entries) >= 7
    assert [
        entry.splitlines()[0] for entry in entries if len(entry.strip().splitlines()) >= 15
    ] == []
    assert [entry for entry in entries if any(part not in entry for part in DECISION_PARTS)] == []


def read(name: str) -> str:
    """Read a file of the project's top."""
    return (ROOT / name).read_text("utf-8")


def configuration() -> dict[str, Any]:
    """Parse what the project says about itself."""
    return tomllib.loads(read("pyproject.toml"))


def contract(identifier: str) -> dict[str, Any]:
    """Find one import contract."""
    contracts: list[dict[str, Any]] = configuration()["tool"]["importlinter"]["contracts"]
    return next(each for each in contracts if each["id"] == identifier)


def pins(name: str) -> dict[str, str]:
    """Map each locked package to its version."""
    found = (PIN.match(line) for line in read(name).splitlines())
    return {match[1]: match[2] for match in found if match}


def unhashed(line: str, after: str) -> bool:
    """Tell whether a pin is followed by another pin."""
    return bool(PIN.match(line)) and not HASH.match(after)


def names(requirements: list[str]) -> set[str]:
    """Reduce requirements to the names of their packages."""
    return {re.split(r"[\[<>=;! ]", requirement)[0] for requirement in requirements}


def imported(tree: ast.Module) -> set[str]:
    """Collect the top names of all imports, those inside functions too."""
    plain = {
        alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    return plain | {
        node.module.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    }
