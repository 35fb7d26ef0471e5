"""`ppcfetch db`: the database's schema."""

import click

from ppcfetch.adapters.database import migrate
from ppcfetch.bootstrap.addresses import find_addresses
from ppcfetch.cli.output import json_option, print_json
from ppcfetch.settings import load_settings


@click.group()
def db() -> None:
    """Look after the database's schema."""


@db.command()
@json_option
def upgrade(*, as_json: bool) -> None:
    """Bring the schema to the newest revision; safe to repeat and to run at once."""
    url = find_addresses(load_settings()).database
    before = migrate.revision(url)
    migrate.upgrade(url)
    after = migrate.revision(url)
    if as_json:
        print_json({"before": before, "after": after})
    elif before == after:
        click.echo(f"The schema is at the newest revision already ({after}).")
    else:
        click.echo(f"The schema went from {before or 'nothing'} to {after}.")
