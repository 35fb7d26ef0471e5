"""`ppcfetch import`: ask for every domain of a list."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ppcfetch.bootstrap.imports import open_imports
from ppcfetch.cli.files import named
from ppcfetch.cli.output import console, json_option, print_json
from ppcfetch.errors import PpcFetchError, Unavailable
from ppcfetch.model.domain_list import UnknownColumn, read_list
from ppcfetch.settings import load_settings
from ppcfetch.usecases.import_domains import Report

SHOWN = 20
INTERRUPTED = 130


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--column", help="The column of a CSV file; else one that is named like a domain.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be asked for.")
@json_option
def import_list(file: Path, *, column: str | None, dry_run: bool, as_json: bool) -> None:
    """Ask in bulk for every domain of FILE that is stale: one a line, or a CSV file; - is stdin.

    Lines without a domain are told with their numbers and stop nothing. Interrupted or failed,
    the same command goes on: what is fetched or fresh by then is passed over.
    """
    last = Report()

    def keep(report: Report) -> None:
        nonlocal last
        last = report

    try:
        report = _import(file, column, dry_run=dry_run, quiet=as_json, told=keep)
    except UnknownColumn as unknown:
        raise click.BadParameter(str(unknown), param_hint="--column") from None
    except KeyboardInterrupt:
        click.echo(f"Stopped behind line {last.lines:,}; {_go_on(file)}", err=True)
        sys.exit(INTERRUPTED)
    except Unavailable as away:
        message = f"{away}; stopped behind line {last.lines:,}; {_go_on(file)}"
        raise click.ClickException(message) from None
    _say(report, dry_run=dry_run, as_json=as_json)
    if not report.valid:
        raise PpcFetchError(f"{_called(file)} holds no domains")


def _called(file: Path) -> str:
    return "standard input" if str(file) == "-" else str(file)


def _go_on(file: Path) -> str:
    return f"go on with: ppcfetch import {file}"


def _import(
    file: Path,
    column: str | None,
    *,
    dry_run: bool,
    quiet: bool,
    told: Callable[[Report], None],
) -> Report:
    with ExitStack() as stack:
        source, size = stack.enter_context(_opened(file))
        ask = stack.enter_context(open_imports(load_settings()))
        seen = stack.enter_context(_bar(size, quiet=quiet))
        try:
            return ask(read_list(seen(source), column), dry_run=dry_run, told=told)
        except UnicodeDecodeError as odd:
            message = f"{file}: not UTF-8 at byte {odd.start:,}; save it as UTF-8"
            raise PpcFetchError(message) from None


@contextmanager
def _opened(file: Path) -> Iterator[tuple[TextIO, int | None]]:
    """Give the list's text and its size in bytes, None when nobody knows it."""
    if str(file) == "-":
        yield sys.stdin, None
        return
    with named(file):
        source = file.open(encoding="utf-8", newline="")
    with source:
        yield source, file.stat().st_size


@contextmanager
def _bar(size: int | None, *, quiet: bool) -> Iterator[Callable[[Iterable[str]], Iterator[str]]]:
    """Give what shows on a terminal how much of the list has been read."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[line]:,} lines"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=quiet or not console().is_terminal,
        transient=True,
    )

    def watched(lines: Iterable[str]) -> Iterator[str]:
        for number, line in enumerate(lines, 1):
            bar.update(task, advance=len(line.encode(errors="replace")), line=number)
            yield line

    with bar:
        task = bar.add_task("importing", total=size, line=0)
        yield watched


def _say(report: Report, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        counts = {name: value for name, value in asdict(report).items() if name != "refused"}
        refused = [{"line": one.line, "reason": one.reason} for one in report.refused]
        print_json({**counts, "valid": report.valid, "refused": refused, "dry_run": dry_run})
        return
    for one in report.refused[:SHOWN]:
        click.echo(f"line {one.line:,}: {one.reason}", err=True)
    if report.refusals > SHOWN:
        click.echo(f"and {report.refusals - SHOWN:,} more; --json tells more of them", err=True)
    if not report.valid:
        return
    verb = "would be asked for" if dry_run else "asked for"
    click.echo(
        f"{report.asked:,} {verb}; {report.fresh:,} fresh, {report.active:,} fetched already,"
        f" {report.duplicate:,} twice in the list, {report.refusals:,} refused"
    )
