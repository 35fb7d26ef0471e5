"""`ppcfetch incident` shows three incidents of others, and that they cannot happen here."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict

import click
from rich.table import Table

from ppcfetch.cli.incidents import deploys, fourteen_hours, healer
from ppcfetch.cli.incidents.replay import Replay
from ppcfetch.cli.incidents.rig import Rig, open_rig
from ppcfetch.cli.output import console, json_option, print_json

INCIDENTS: dict[str, Callable[[Rig], Replay]] = {
    "fourteen-hours": fourteen_hours.replay,
    "healer": healer.replay,
    "deploys": deploys.replay,
}
ALL = "all"
NOT_SHOWN = (
    "The usual code did not have this incident here: this machine was too slow for the times."
    " Try again with longer leases, such as --lease-seconds 5."
)


@click.command()
@click.argument("name", type=click.Choice([*INCIDENTS, ALL]))
@click.option(
    "--lease-seconds",
    type=click.FloatRange(0.5, 60),
    default=1.0,
    show_default=True,
    help="What a lease of a minute is scaled down to; all other times follow.",
)
@json_option
def incident(name: str, lease_seconds: float, *, as_json: bool) -> None:
    """Replay an incident: first with the usual code, then with ours.

    Runs on servers of its own in a temporary folder, which are gone afterwards. Exit code 0 means
    that the usual code had the incident and ours lost nothing and did nothing twice.
    """
    chosen = list(INCIDENTS) if name == ALL else [name]
    replays = []
    with open_rig(lease_seconds, _tell) as rig:
        for one in chosen:
            began = time.monotonic()
            _tell(f"Replaying {one} …")
            replay = INCIDENTS[one](rig)
            replays.append((replay, time.monotonic() - began))
            if not as_json:
                _print(replay)
            if not replay.shown:
                _tell(NOT_SHOWN)
    if as_json:
        print_json([_as_json(replay, seconds, lease_seconds) for replay, seconds in replays])
    sys.exit(_code([replay for replay, _ in replays]))


def _tell(text: str) -> None:
    click.echo(text, err=True)


def _print(replay: Replay) -> None:
    click.echo()
    table = Table(title=replay.incident, caption=replay.story, title_justify="left", width=78)
    table.title_style, table.caption_style = "bold", ""
    table.caption_justify = "left"
    table.add_column("")
    table.add_column("the usual code", justify="right")
    table.add_column("ppcfetch", justify="right")
    for figure, naive in replay.naive.items():
        ours = replay.ours[figure]
        table.add_row(figure.replace("_", " "), f"{naive:,}", f"{ours:,}")
    console().print(table)


def _as_json(replay: Replay, seconds: float, lease: float) -> dict[str, object]:
    told = asdict(replay)
    return {**told, "holds": replay.holds, "lease_seconds": lease, "seconds": round(seconds, 1)}


def _code(replays: Sequence[Replay]) -> int:
    return 0 if all(replay.holds for replay in replays) else 1
