"""Sizes, names and words that the code keeps to. There is no list of exemptions."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.source import (
    FOLDERS,
    MADE_BY_TOOLS,
    PACKAGES,
    ROOT,
    Function,
    Source,
    project_files,
    sources,
)

SOURCE_FILE_LINES = 300
TEST_FILE_LINES = 400
FUNCTION_LINES = 45
PARAMETERS = 7
PORT_METHODS = 7
BANNED_NAMES = frozenset(
    {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager"}
)
DOCUMENTED = ("ppcfetch", "web", "workers", "fixtures")

# Put together here, so that this file does not contain what it forbids.
REGISTRIES = ("py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com")
MACHINE_PATH = re.compile(
    r"(?<![\w.~$}/-])/(?:work|root|home/\w+|opt/py" + r"pi\S*|Users/\w+)/|\.\./" + "shared"
)


@pytest.mark.parametrize(
    ("folders", "limit"),
    [
        pytest.param(PACKAGES, SOURCE_FILE_LINES, id="source"),
        pytest.param(("tests",), TEST_FILE_LINES, id="tests"),
    ],
)
def test_no_file_is_too_long_to_hold_one_idea(folders: tuple[str, ...], limit: int) -> None:
    lengths = {str(source): len(source.text.splitlines()) for source in sources(*folders)}

    assert lengths
    assert {path: lines for path, lines in lengths.items() if lines > limit} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    lengths = {where(source, function): length(function) for source, function in all_functions()}

    assert lengths
    assert {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES} == {}


def test_no_function_takes_more_than_seven_parameters() -> None:
    counts = {where(source, function): parameters(function) for source, function in all_functions()}

    assert {name: count for name, count in counts.items() if count > PARAMETERS} == {}


def test_no_port_asks_more_than_seven_things_of_an_adapter() -> None:
    ports = {
        node.name: sum(isinstance(member, Function) for member in node.body)
        for source in sources("ppcfetch")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and "Protocol" in map(ast.unparse, node.bases)
    }

    assert ports
    assert {name: methods for name, methods in ports.items() if methods > PORT_METHODS} == {}


def test_no_module_is_named_for_being_a_drawer() -> None:
    names = {
        str(source): {source.path.stem.strip("_"), *source.path.parent.parts}
        for source in sources(*PACKAGES, "tests")
    }

    assert {path for path, parts in names.items() if parts & BANNED_NAMES} == set()


def test_every_public_module_class_and_function_says_what_the_caller_gets() -> None:
    found = sources(*DOCUMENTED)

    silent_modules = {str(source) for source in found if not ast.get_docstring(source.tree)}
    silent_definitions = {
        f"{source}:{node.lineno} {node.name}"
        for source in found
        for node in source.public()
        if not ast.get_docstring(node)
    }

    assert silent_modules | silent_definitions == set()


def test_only_the_known_folders_lie_at_the_top() -> None:
    visible = {
        path.name
        for path in ROOT.iterdir()
        if path.is_dir() and not path.name.startswith(".") and not path.name.endswith(".egg-info")
    }

    assert visible - MADE_BY_TOOLS - FOLDERS == set()
    assert {*PACKAGES, "tests"} <= visible


def test_no_test_sleeps_except_to_wait_until_something_holds() -> None:
    sleeps = {
        f"{source}:{call.lineno}"
        for source in sources("tests")
        for call in calls_outside(source.tree, "wait_until")
        if dotted(call.func) in {"time.sleep", "sleep"}
    }

    assert sleeps == set()


def test_no_test_replaces_our_own_code_by_a_mock() -> None:
    mocked = {
        f"{source}:{node.lineno}"
        for source in sources("tests")
        for node in ast.walk(source.tree)
        if (isinstance(node, ast.ImportFrom) and "mock" in f"{node.module}".split("."))
        or (isinstance(node, ast.ImportFrom | ast.Import) and imports_mock(node))
        or (isinstance(node, ast.Attribute) and dotted(node) == "monkeypatch.setattr")
    }

    assert mocked == set()


def test_no_file_names_a_registry_or_a_folder_of_one_machine() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in project_files()
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1)
        if any(registry in line for registry in REGISTRIES) or MACHINE_PATH.search(line)
    }

    assert found == set()


def all_functions() -> Iterator[tuple[Source, Function]]:
    """Give each function of source and tests, with its file."""
    for source in sources(*PACKAGES, "tests"):
        for function in source.functions():
            yield source, function


def where(source: Source, function: Function) -> str:
    """Name a function so that an editor finds it."""
    return f"{source}:{function.lineno} {function.name}"


def length(function: Function) -> int:
    """Count the lines from `def` to the last one, docstring included."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def parameters(function: Function) -> int:
    """Count the parameters that a caller fills."""
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    stars = [star for star in (given.vararg, given.kwarg) if star]
    return len([each for each in named if each.arg not in {"self", "cls"}]) + len(stars)


def calls_outside(node: ast.AST, function: str) -> Iterator[ast.Call]:
    """Give the calls below a node, except those within functions of this name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function) and child.name == function:
            continue
        if isinstance(child, ast.Call):
            yield child
        yield from calls_outside(child, function)


def imports_mock(node: ast.Import | ast.ImportFrom) -> bool:
    """Tell whether the statement brings in a mocking library."""
    return any(alias.name.split(".")[-1] == "mock" for alias in node.names)


def dotted(node: ast.AST) -> str:
    """Give a name, or a name and its attribute; empty for anything longer."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""
