"""`ppcfetch consumers`: the names under which workers receive."""

import click

from ppcfetch.bootstrap.operators import open_operators
from ppcfetch.cli.output import json_option, print_json, print_rows
from ppcfetch.model.operation import Action, Deed
from ppcfetch.settings import load_settings


@click.group()
def consumers() -> None:
    """Look after the names under which workers receive."""


@consumers.command("list")
@json_option
def list_(*, as_json: bool) -> None:
    """Show each name, what it holds, and the process that bears it."""
    with open_operators(load_settings()) as operators:
        rows: list[dict[str, object]] = [
            {
                "pool": str(one.pool),
                "name": one.name,
                "held": one.held,
                "idle_seconds": one.idle and round(one.idle.total_seconds(), 1),
                "incarnation": one.bearer,
                "alive": one.is_alive,
            }
            for one in operators.consumers()
        ]
    print_rows(rows, as_json=as_json, title="Consumers", empty="There are no consumers.")


@consumers.command()
@click.argument("name")
@click.option("--reason", help="Why; kept in the audit.")
@json_option
def remove(name: str, reason: str | None, *, as_json: bool) -> None:
    """Remove NAME, unless it holds messages or a process bears it.

    Names that did nothing for a day are removed without being asked.
    """
    with open_operators(load_settings()) as operators:
        operators.remove_consumer(name, Deed(operators.who, Action.REMOVE_CONSUMER, reason))
    if as_json:
        print_json({"removed": name})
    else:
        click.echo(f"{name} is removed.")
