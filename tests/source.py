"""The project's own files as text and syntax trees, for the tests that read the project."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("ppcfetch", "web", "workers", "migrations", "fixtures")
FOLDERS = frozenset({*PACKAGES, "tests", "docs", "deploy"})
MADE_BY_TOOLS = frozenset({"__pycache__", "build", "dist", "htmlcov", "var"})

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Source:
    """A Python file: where it is below the root, what it says, how it parses."""

    path: Path
    text: str
    tree: ast.Module

    def __str__(self) -> str:
        """Name the file as an editor would open it."""
        return self.path.as_posix()

    def functions(self) -> Iterator[Function]:
        """Give all functions, methods and nested functions."""
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                yield node

    def public(self) -> Iterator[Definition]:
        """Give the public classes and functions, and the public methods of such classes."""
        return _public(self.tree.body)


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Read the Python files of these folders, in order of their paths."""
    return tuple(
        Source(path.relative_to(ROOT), text := path.read_text("utf-8"), ast.parse(text))
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
    )


def project_files() -> Iterator[Path]:
    """Give every file that belongs to the project, known to git or not yet."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and _is_ours(path))
    for folder in sorted({*FOLDERS, ".ci"}):
        yield from (
            path
            for path in sorted((ROOT / folder).rglob("*"))
            if path.is_file() and not MADE_BY_TOOLS & set(path.parts)
        )


def _is_ours(path: Path) -> bool:
    """Leave out what a person or a tool keeps at the top without sharing it."""
    return path.name not in {".env", ".git"} and not path.name.startswith(".coverage")


def _public(body: list[ast.stmt]) -> Iterator[Definition]:
    for node in body:
        if not isinstance(node, Definition) or node.name.startswith("_") or _is_setter(node):
            continue
        yield node
        if isinstance(node, ast.ClassDef):
            yield from _public(node.body)


def _is_setter(node: Definition) -> bool:
    """Tell whether the property that this belongs to has the docstring already."""
    return any(
        isinstance(mark, ast.Attribute) and mark.attr in {"setter", "deleter"}
        for mark in node.decorator_list
    )
