"""`ppcfetch fetch`: refresh one domain, and watch it if wanted."""

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from ppcfetch.adapters import logs
from ppcfetch.bootstrap.commands import open_commands
from ppcfetch.cli.fetch_lines import SHRUNK, told_fetch
from ppcfetch.cli.output import console, json_option, print_json, print_rows
from ppcfetch.errors import Refused
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchReason, FetchState
from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Pause
from ppcfetch.ports import Asked, DomainSummary, Request
from ppcfetch.settings import load_settings

POLL_SECONDS = 0.25


@click.command()
@click.argument("domain")
@click.option("--wait", is_flag=True, help="Watch until it has ended; then show who advertises.")
@click.option("--if-stale", is_flag=True, help="Do nothing when the domain is fresh.")
@click.option("--full", is_flag=True, help="Read it to its end, however much is known already.")
@json_option
def fetch(domain: str, *, wait: bool, if_stale: bool, full: bool, as_json: bool) -> None:
    """Refresh DOMAIN from the archive; joins a fetch that is under way.

    With --wait the exit code is 0 only when the fetch has read the domain to its end, or when it
    is fresh and --if-stale was given.
    """
    logs.configure(level=logs.WARNING)
    settings = load_settings()
    name = DomainName.parse(domain)
    request = Request(
        name,
        FetchReason.COMMAND,
        force=not if_stale,
        window=settings.stale_after,
        reach=replace(settings.reach, full=full),
    )
    with open_commands(settings) as commands:
        try:
            asked = commands.request_refresh(request)
        except Refused as fresh:
            # Nobody's limit is asked for here, so that freshness is all that is left to refuse.
            _say_fresh(name, str(fresh), as_json=as_json)
            return
        _warn_of_pauses(asked, commands.pause_of)
        if not wait:
            _say_asked(asked.fetch, joined=asked.joined, as_json=as_json)
            return
        ended = _watch(asked.fetch, commands.watching.fetch, quiet=as_json)
        summary = commands.watching.summary(name)
    _say_ended(ended, summary, as_json=as_json)
    sys.exit(ended.state is not FetchState.DONE)


def _say_fresh(domain: DomainName, reason: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"fetch": None, "domain": str(domain), "joined": False, "reason": reason})
        return
    click.echo(f"Nothing to do: {reason}.")


def _warn_of_pauses(asked: Asked, pause_of: Callable[[Pool], Pause | None]) -> None:
    for pool in sorted({pool for _, pool in asked.jobs}):
        pause = pause_of(pool)
        if pause is not None:
            resume = f"it waits for: ppcfetch resume {pool}"
            click.echo(f"The pool {pool} is paused {pause.told}; {resume}", err=True)


def _say_asked(asked: Fetch, *, joined: bool, as_json: bool) -> None:
    if as_json:
        print_json({"fetch": asked.id, "domain": str(asked.domain), "joined": joined})
        return
    verb = "is under way already" if joined else "was requested"
    click.echo(f"Fetch {asked.id} of {asked.domain} {verb}.")
    click.echo(f"How it goes: ppcfetch explain {asked.domain}")


def _watch(asked: Fetch, look: Callable[[int], Fetch], *, quiet: bool) -> Fetch:
    """Follow a fetch to its end, with a bar on a terminal and silently elsewhere."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=quiet or not console().is_terminal,
        transient=True,
    )
    with bar:
        task = bar.add_task(str(asked.domain), total=None, told="queued")
        now = asked
        while now.state is FetchState.ACTIVE:
            time.sleep(POLL_SECONDS)
            now = look(asked.id)
            _show(bar, task, now)
    return now


def _show(bar: Progress, task: TaskID, now: Fetch) -> None:
    told = f"{now.pages:,} pages, {now.found:,} ads, {now.new:,} new" if now.pages else "queued"
    total = now.total.upper if now.total and now.total.upper else None
    bar.update(task, total=total, completed=min(now.found, total or now.found), told=told)


def _say_ended(ended: Fetch, summary: DomainSummary, *, as_json: bool) -> None:
    if as_json:
        print_json({"fetch": asdict(ended), "summary": asdict(summary)})
        return
    rows = [
        {"advertiser": name or "name not given", "id": advertiser_id, "ads": ads}
        for advertiser_id, name, ads in summary.advertisers
    ]
    print_rows(
        rows, as_json=False, title=f"Who advertises {ended.domain}", empty="No ads are held."
    )
    click.echo(told_fetch(ended))
    if ended.shrunk:
        click.echo(SHRUNK)
