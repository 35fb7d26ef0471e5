"""`ppcfetch pause` and `ppcfetch resume`: whether a pool may work."""

import click

from ppcfetch.bootstrap.operators import OperatorPorts, open_operators
from ppcfetch.cli.output import json_option, print_json
from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Action, Deed
from ppcfetch.settings import load_settings

pool_argument = click.argument("pool", type=click.Choice([p.value for p in Pool]))


@click.command()
@pool_argument
@click.option("--reason", help="Why; shown to everybody who asks what stands still.")
@json_option
def pause(pool: str, reason: str | None, *, as_json: bool) -> None:
    """Let POOL start nothing until `ppcfetch resume POOL`.

    Takes effect within a second and outlives workers and Redis. Jobs that run finish the page in
    hand and are handed back; what is asked for meanwhile waits.
    """
    with open_operators(load_settings()) as operators:
        changed = operators.pauses.pause(Pool(pool), Deed(operators.who, Action.PAUSE, reason))
        _tell(operators, Pool(pool), changed=changed, as_json=as_json)


@click.command()
@pool_argument
@click.option("--reason", help="Why; kept in the audit.")
@json_option
def resume(pool: str, reason: str | None, *, as_json: bool) -> None:
    """Let a paused POOL work again."""
    with open_operators(load_settings()) as operators:
        changed = operators.pauses.resume(Pool(pool), Deed(operators.who, Action.RESUME, reason))
        _tell(operators, Pool(pool), changed=changed, as_json=as_json)


def _tell(operators: OperatorPorts, pool: Pool, *, changed: bool, as_json: bool) -> None:
    now = operators.pauses.pause_of(pool)
    if as_json:
        paused = now and {"since": now.since, "by": now.by, "reason": now.reason}
        print_json({"pool": str(pool), "changed": changed, "paused": paused})
        return
    already = "" if changed else " already"
    if now is None:
        click.echo(f"The pool {pool} works{already}.")
        return
    click.echo(f"The pool {pool} is paused{already}, {now.told}")
