"""`ppcfetch archive`: the archive by itself: its emulator, a recorded answer, one live query.

Each command imports what it needs: the emulator starts at once and needs nothing of ours.
"""

import json
import os
import sys
from pathlib import Path

import click


@click.group()
def archive() -> None:
    """Look at the archive by itself."""


@archive.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65_535), default=8100, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed, other ads.")
@click.option("--today", help="The day that all ads lead up to, YYYY-MM-DD.")
def serve(host: str, port: int, seed: int, today: str | None) -> None:
    """Run the archive emulator until SIGTERM."""
    arguments = ["--host", host, "--port", str(port), "--seed", str(seed)]
    if today is not None:
        arguments += ["--today", today]
    os.execv(sys.executable, [sys.executable, "-m", "fixtures.emulator", *arguments])  # noqa: S606 - our own interpreter, no shell


@archive.command()
@click.argument("file", type=click.Path(path_type=Path))
def read(file: Path) -> None:
    """Print what we would store of a recorded answer in FILE, one JSON line an ad.

    Warnings and the totals go to standard error.
    """
    from ppcfetch.adapters.archive.reading import as_lines, read_recorded
    from ppcfetch.cli.files import named

    with named(file):
        page = read_recorded(file.read_bytes())
    for line in as_lines(page):
        click.echo(json.dumps(line, ensure_ascii=False))
    total = f"{page.total.lower} to {page.total.upper}" if page.total else "not told"
    click.echo(f"{len(page.ads)} ads; the archive's total: {total}", err=True)
    for warning in page.warnings:
        click.echo(f"warning: {warning}", err=True)


@archive.command()
@click.argument("domain")
@click.option("--cursor", help="Ask for the page behind this cursor.")
def probe(domain: str, cursor: str | None) -> None:
    """Ask the archive once for DOMAIN and print the answer; nothing is stored."""
    from ppcfetch.adapters.archive.reading import as_lines
    from ppcfetch.bootstrap.archive import open_archive
    from ppcfetch.cli.output import print_json
    from ppcfetch.cli.warnings import tell_unknown_settings
    from ppcfetch.model.ad import Query
    from ppcfetch.model.domain import DomainName
    from ppcfetch.settings import load_settings

    tell_unknown_settings()
    query = Query(DomainName.parse(domain))
    with open_archive(load_settings()) as client:
        page = client.page(query, cursor)
    print_json(
        {
            "domain": str(query.domain),
            "ads": list(as_lines(page)),
            "next_cursor": page.next_cursor,
            "total": page.total and [page.total.lower, page.total.upper],
            "warnings": page.warnings,
        }
    )
