"""`ppcfetch user`: accounts."""

import click

from ppcfetch.bootstrap.commands import open_commands
from ppcfetch.cli.output import json_option, print_json
from ppcfetch.settings import load_settings


@click.group()
def user() -> None:
    """Look after accounts."""


@user.command()
@click.argument("email")
@click.option("--operator", is_flag=True, help="May stop and retry anything.")
@click.option(
    "--password",
    envvar="PPCFETCH_USER_PASSWORD",
    help="Asked for when not given; an option is visible to others on this machine, so prefer"
    " PPCFETCH_USER_PASSWORD.",
)
@json_option
def add(email: str, password: str | None, *, operator: bool, as_json: bool) -> None:
    """Make an account for EMAIL."""
    if password is None:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    with open_commands(load_settings()) as commands:
        made = commands.add_user(email, str(password), operator=operator)
    if as_json:
        print_json({"id": made.id, "email": made.email, "operator": made.operator})
    else:
        click.echo(f"{made.email} can sign in{' as an operator' if made.operator else ''}.")
