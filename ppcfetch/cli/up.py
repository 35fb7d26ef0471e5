"""`ppcfetch up`: everything with one command."""

import secrets
import signal
import sys
import time
from pathlib import Path

import click

from ppcfetch.adapters.embedded import folder as files
from ppcfetch.bootstrap.commands import open_commands
from ppcfetch.cli.together import Together
from ppcfetch.settings import Settings, load_settings
from workers.signals import on_signals
from workers.supervisor import Supervisor

DEMO_EMAIL = "demo@ppcfetch.example"
DEMO_LOGIN = "demo-login"
DEMO_DOMAIN = "bluebird-outdoor.example"
GRACE_SECONDS = 45.0


@click.command()
@click.option("--host", help="Address of the site (PPCFETCH_HOST).")
@click.option("--port", type=int, help="Port of the site (PPCFETCH_PORT).")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where all state lives.")
def up(host: str | None, port: int | None, data_dir: Path | None) -> None:
    """Start everything: database, stream, archive emulator, site and both pools.

    State lives in ./var. PPCFETCH_DATABASE_URL, PPCFETCH_REDIS_URL and PPCFETCH_ARCHIVE_URL
    replace the embedded part each. Ctrl-C or SIGTERM stops everything cleanly.
    """
    began = time.monotonic()
    settings = load_settings(host=host, port=port, data_dir=data_dir)
    supervisor = Supervisor(grace_seconds=GRACE_SECONDS, tell=_tell)
    on_signals((signal.SIGTERM, signal.SIGINT, signal.SIGHUP), supervisor.stopping.set)
    together = Together(settings, supervisor, tell=_tell)
    try:
        addresses = together.start()
        login = _demo_login(settings)
        together.wait_until_ready()
        if not supervisor.stopping.is_set():
            _welcome(settings, login, emulated=addresses.emulated, began=began)
        supervisor.watch(together.look_after_servers)
        click.echo("\nStopping …")
    finally:
        together.stop()
    click.echo("Stopped; everything is kept.")
    sys.exit(0)


def _tell(text: str) -> None:
    click.echo(text)


def _demo_login(settings: Settings) -> str | None:
    """Make the demo account for a new data folder; gives its password the first time only."""
    kept = settings.data_dir / DEMO_LOGIN
    if settings.database_url is not None or kept.exists():
        return None
    password = secrets.token_urlsafe(12)
    with open_commands(settings) as commands:
        commands.add_user(DEMO_EMAIL, password, operator=True)
    files.write(kept, f"{DEMO_EMAIL}\n{password}\n")
    return password


def _welcome(settings: Settings, login: str | None, *, emulated: bool, began: float) -> None:
    site = f"http://{settings.host}:{settings.port}"
    kept = settings.data_dir / DEMO_LOGIN
    click.echo(f"\nppcfetch is running at {site} (ready in {time.monotonic() - began:.1f} s)\n")
    if login is not None:
        click.echo(f"  Sign in    {DEMO_EMAIL} with password {login}")
        click.echo(f"             (shown once; kept in {kept})")
    elif kept.exists():
        click.echo(f"  Sign in    {DEMO_EMAIL}; the password is in {kept}")
    if emulated:
        click.echo(f"  Try first  {site}/domains/{DEMO_DOMAIN} – sign in and watch it fill;")
        click.echo(f"             {site}/domains/ads-2350.example has exactly 2,350 ads")
    click.echo(f"  Logs       {settings.data_dir / 'logs'}")
    click.echo("  Stop       Ctrl-C\n")
