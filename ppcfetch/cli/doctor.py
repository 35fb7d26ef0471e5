"""`ppcfetch doctor` tells whether it can work."""

import sys
from dataclasses import asdict

import click

from ppcfetch.bootstrap.commands import open_commands
from ppcfetch.cli.output import json_option, print_json
from ppcfetch.model.health import Verdict
from ppcfetch.model.setting_words import finding_of_settings
from ppcfetch.settings import load_settings, unknown_settings

MARKS = {Verdict.GOOD: "ok  ", Verdict.WARN: "warn", Verdict.BAD: "BAD "}


@click.command()
@json_option
def doctor(*, as_json: bool) -> None:
    """Check database, Redis and settings; exit 1 when something cannot work."""
    with open_commands(load_settings()) as commands:
        findings = [finding_of_settings(unknown_settings()), *commands.examine()]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            click.echo(f"{MARKS[finding.verdict]}  {finding.check}: {finding.found}")
            if finding.advice:
                click.echo(f"      → {finding.advice}")
    sys.exit(any(finding.verdict is Verdict.BAD for finding in findings))
