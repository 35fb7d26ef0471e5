"""What a program warns of at its start."""

import click
import structlog

from ppcfetch.settings import unknown_settings


def tell_unknown_settings() -> None:
    """Print a line for each setting that nothing reads, for people."""
    for unknown in unknown_settings():
        click.echo(f"ppcfetch: {unknown}", err=True)


def warn_of_unknown_settings() -> None:
    """Log a warning for each of them, where standard error is a log."""
    for unknown in unknown_settings():
        structlog.get_logger().warning("setting.unknown", told=unknown)
