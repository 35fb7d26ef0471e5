"""`ppcfetch web`: the site under gunicorn."""

import os
import sys

import click

from ppcfetch.adapters import logs
from ppcfetch.bootstrap.addresses import find_addresses, secret_key
from ppcfetch.cli.warnings import warn_of_unknown_settings
from ppcfetch.settings import load_settings


@click.command()
@click.option("--host", help="Address to listen on (PPCFETCH_HOST).")
@click.option("--port", type=int, help="Port to listen on (PPCFETCH_PORT).")
@click.option("--processes", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option("--threads", type=click.IntRange(1, 256), default=8, show_default=True)
def web(host: str | None, port: int | None, processes: int, threads: int) -> None:
    """Serve the site until SIGTERM."""
    from web.serve import gunicorn_arguments

    logs.configure()
    warn_of_unknown_settings()
    settings = load_settings(host=host, port=port)
    find_addresses(settings)
    secret_key(settings)
    arguments = gunicorn_arguments(settings.host, settings.port, workers=processes, threads=threads)
    os.execv(sys.executable, [sys.executable, "-m", "gunicorn", *arguments])  # noqa: S606 - our own interpreter, no shell
