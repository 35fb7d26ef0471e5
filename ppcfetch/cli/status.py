"""`ppcfetch status` tells whether it is moving."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import click

from ppcfetch.bootstrap.commands import open_commands
from ppcfetch.cli.fetch_lines import fetch_row
from ppcfetch.cli.output import json_option, print_rows
from ppcfetch.settings import load_settings


@click.command()
@click.option(
    "--ledger", is_flag=True, help="List where rows and messages differ, each seen twice in a row."
)
@click.option("--egresses", is_flag=True, help="List only the ways out to the archive.")
@click.option(
    "--fetches", is_flag=True, help="List only fetches under way, and those that ended oddly."
)
@json_option
def status(*, ledger: bool, egresses: bool, fetches: bool, as_json: bool) -> None:
    """Show for each pool what waits and what runs, and how each way out to the archive does.

    The ledger difference is due + running - messages. A few come and go while jobs do; one that
    stays longer than two sweeps is a fault, and --ledger names its jobs.
    """
    with open_commands(load_settings()) as commands:
        if ledger:
            found = [asdict(one) for one in commands.ledger()]
            empty = "Rows and messages agree."
            print_rows(found, as_json=as_json, title="Differences", empty=empty)
            return
        if fetches:
            found = [fetch_row(one) for one in commands.notable_fetches()]
            empty = "No fetch is under way, and none has ended oddly in the last week."
            print_rows(found, as_json=as_json, title="Fetches", empty=empty)
            return
        ways = commands.egresses()
        if not egresses:
            rows = commands.status()
            shown = rows if as_json else _by_fact(rows)
            print_rows(shown, as_json=as_json, title="Pools", empty="There are no pools.")
        if egresses or not as_json:
            print_rows(ways, as_json=as_json, title="Ways out", empty="There is no way out.")


def _by_fact(pools: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Turn rows of pools into rows of facts, which are narrow enough for any terminal."""
    facts = [name for name in pools[0] if name != "pool"]
    return [
        {"fact": fact.replace("_", " "), **{str(pool["pool"]): pool[fact] for pool in pools}}
        for fact in facts
    ]
