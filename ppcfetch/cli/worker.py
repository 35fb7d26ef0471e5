"""`ppcfetch worker`: run jobs of one pool."""

import sys

import click

from ppcfetch.adapters import logs
from ppcfetch.cli.warnings import warn_of_unknown_settings
from ppcfetch.model.job import Pool
from ppcfetch.settings import load_settings


@click.command()
@click.option(
    "--pool", type=click.Choice([p.value for p in Pool]), required=True, help="Whose jobs to run."
)
@click.option(
    "--threads", type=click.IntRange(1, 256), default=4, show_default=True, help="Jobs at once."
)
def worker(pool: str, threads: int) -> None:
    """Run jobs until SIGTERM, then hand back what is in hand and exit 0.

    A second signal ends the process at once; nothing is lost by that.
    """
    from workers.process import run_worker

    logs.configure(pool=pool)
    warn_of_unknown_settings()
    sys.exit(run_worker(load_settings(), pool=Pool(pool), threads=threads))
