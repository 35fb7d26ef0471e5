"""`ppcfetch status` tells whether it is moving."""

import click

from ppcfetch.bootstrap.commands import open_commands
from ppcfetch.cli.output import json_option, print_rows
from ppcfetch.settings import load_settings


@click.command()
@json_option
def status(*, as_json: bool) -> None:
    """Show for each pool what waits, what runs and when the last page was stored."""
    with open_commands(load_settings()) as commands:
        rows = commands.status()
    print_rows(rows, as_json=as_json, title="Pools", empty="There are no pools.")
