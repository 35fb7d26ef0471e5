"""The README against the code: the settings, commands, files and names that it promises."""

import re
from collections.abc import Iterator

import click
import pytest

from ppcfetch.cli import entry
from ppcfetch.settings import PREFIX, Settings
from tests.source import ROOT

README = (ROOT / "README.md").read_text("utf-8")
SETTING_ROW = re.compile(rf"^\| `{PREFIX}(\w+)` \| (`[^`]+`|–|empty) \| \S.* \|$", re.MULTILINE)
COMMAND_ROW = re.compile(r"^\| `ppcfetch ([a-z]+(?: [a-z]+)*)([^`]*)` \| \S.* \|$", re.MULTILINE)
SPOKEN = re.compile(r"`(?:\.venv/bin/)?ppcfetch ([^`\n]+)`")
LINK = re.compile(r"\[([^]\n]+)\]\(([^)\s#]+)(?:#[\w-]+)?\)")
CODE_LINK = re.compile(r"\[`([A-Za-z_]+)(?:\.([a-z_]+))?`\]\((\S+\.py)\)")
MAKE = re.compile(r"`(?:PPCFETCH_\w+=\S+ )?make ([a-z]+)")
LARGEST_PICTURE = 200_000


def leaves(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Give every command that does something, with the words that lead to it."""
    if not isinstance(command, click.Group):
        yield path.strip(), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from leaves(found, f"{path} {name}")


COMMANDS = dict(leaves(entry))


def test_every_setting_is_listed_once_and_none_that_is_not_there() -> None:
    listed = [name.lower() for name, _ in SETTING_ROW.findall(README)]

    assert sorted(listed) == sorted(Settings.model_fields)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_the_default_that_is_told_is_the_default(name: str) -> None:
    told = dict(SETTING_ROW.findall(README))

    assert told[name.upper()] == written(Settings.model_fields[name].default)


def test_every_variable_that_is_named_anywhere_is_read_by_something() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    known |= {
        parameter.envvar
        for command in COMMANDS.values()
        for parameter in command.params
        if isinstance(parameter.envvar, str)
    }

    assert set(re.findall(rf"\b{PREFIX}[A-Z_]+\b", README)) <= known


def test_every_command_is_listed_once_and_none_that_is_not_there() -> None:
    listed = [path for path, _ in COMMAND_ROW.findall(README)]

    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_is_listed_with_all_its_arguments_and_options(path: str) -> None:
    told = dict(COMMAND_ROW.findall(README))[path]

    asked = COMMANDS[path].params
    options = {name for p in asked if isinstance(p, click.Option) for name in p.opts}
    names = [p.human_readable_name for p in asked if isinstance(p, click.Argument)]
    assert set(re.findall(r"--[a-z-]+", told)) == options - {"-h", "--help"}
    assert re.findall(r"\b[A-Z]+\b", told) == re.findall(r"[A-Z]+", " ".join(names))


@pytest.mark.parametrize("spoken", sorted(set(SPOKEN.findall(README))))
def test_every_command_in_the_text_is_one(spoken: str) -> None:
    path = re.match(r"[a-z]+(?: [a-z]+)*", spoken)

    assert path
    assert any(
        path[0] == known or path[0].startswith(f"{known} ") or known.startswith(f"{path[0]} ")
        for known in COMMANDS
    )


def test_every_link_leads_to_a_file_that_is_there() -> None:
    local = [where for _, where in LINK.findall(README) if "://" not in where]

    assert len(local) > 30
    assert [where for where in local if not (ROOT / where).exists()] == []


@pytest.mark.parametrize(("name", "method", "file"), sorted(set(CODE_LINK.findall(README))))
def test_what_is_said_to_be_in_a_file_is_there(name: str, method: str, file: str) -> None:
    text = (ROOT / file).read_text("utf-8")

    assert re.search(rf"^(?:def|class) {name}\b", text, re.MULTILINE)
    assert not method or re.search(rf"^    def {method}\b", text, re.MULTILINE)


def test_every_make_target_is_explained() -> None:
    targets = set(re.findall(r"^([a-z]+):.* ## ", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert set(MAKE.findall(README)) == targets - {"help"}


def test_every_layer_of_tests_is_explained() -> None:
    there = {file.parent.name for file in (ROOT / "tests").glob("*/__init__.py")}

    assert set(re.findall(r"^\| \[tests/(\w+)\]", README, re.MULTILINE)) == there


def test_the_picture_is_small_enough_to_be_looked_at_anywhere() -> None:
    picture = (ROOT / "docs" / "domain-page.png").read_bytes()

    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20]) == 1200
    assert len(picture) < LARGEST_PICTURE


def written(default: object) -> str:
    """Give a default as the table of settings spells it."""
    if default is None:
        return "–"
    if default == "":
        return "empty"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"
