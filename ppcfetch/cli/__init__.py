"""The command line: one file a subject; nothing heavy is imported before a command runs."""

import importlib
import sys

import click

from ppcfetch.errors import ConfigurationError, PpcFetchError

EXIT_FAILED = 1
EXIT_CONFIGURATION = 2

COMMANDS = {
    "up": "up:up",
    "web": "web:web",
    "worker": "worker:worker",
    "db": "db:db",
    "fetch": "fetch:fetch",
    "import": "import_list:import_list",
    "status": "status:status",
    "explain": "explain:explain",
    "jobs": "jobs:jobs",
    "dead": "dead:dead",
    "consumers": "consumers:consumers",
    "pause": "pools:pause",
    "resume": "pools:resume",
    "user": "user:user",
    "archive": "archive:archive",
    "doctor": "doctor:doctor",
    "incident": "incident:incident",
}
"""Each command's module and name, in the order of the help."""


TELL_THEMSELVES = frozenset({"archive", "doctor", "incident", "web", "worker"})
"""Take no settings, or tell of unknown ones as a finding or in their log."""


class Commands(click.Group):
    """Commands that are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Give the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Give a command by its name, None when there is none."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"ppcfetch.cli.{module}"), name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ppcfetch")
@click.pass_context
def entry(context: click.Context) -> None:
    """See which advertisers run search ads to a domain.

    Settings are PPCFETCH_… environment variables or lines of .env; see the README.
    """
    if context.invoked_subcommand in TELL_THEMSELVES:
        return
    from ppcfetch.cli.warnings import tell_unknown_settings

    tell_unknown_settings()


def main() -> None:
    """Run the command line; our errors become one clear message and an exit code."""
    from ppcfetch.adapters import logs

    # Warnings go to standard error, so that what a script reads stays clean.
    logs.configure(level=logs.WARNING)
    try:
        entry(prog_name="ppcfetch")
    except ConfigurationError as error:
        click.echo(f"ppcfetch cannot start:\n{error}", err=True)
        sys.exit(EXIT_CONFIGURATION)
    except PpcFetchError as error:
        click.echo(f"ppcfetch: {error}", err=True)
        sys.exit(EXIT_FAILED)
