"""Tables for people, JSON for scripts."""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

import click
from rich.console import Console
from rich.table import Table

NUMBERS = (int, float)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")


def console() -> Console:
    """Give a console that is plain without a terminal and honours NO_COLOR."""
    return Console(highlight=False, soft_wrap=False)


def print_json(value: object) -> None:
    """Print a value as one JSON document."""
    click.echo(json.dumps(value, default=_plain, ensure_ascii=False))


def print_rows(
    rows: Sequence[Mapping[str, object]], *, as_json: bool, title: str, empty: str
) -> None:
    """Print rows that all have the same keys: a table, or a JSON list."""
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo(empty)
        return
    table = Table(title=title, title_justify="left", title_style="bold")
    for name, value in rows[0].items():
        right = isinstance(value, NUMBERS) and not isinstance(value, bool)
        table.add_column(
            name.replace("_", " "), justify="right" if right else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    console().print(table)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def _plain(value: object) -> object:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return str(value)
