"""`ppcfetch explain`: why a job is where it is."""

from collections.abc import Sequence

import click

from ppcfetch.bootstrap.operators import open_operators
from ppcfetch.cli.arguments import JOB
from ppcfetch.cli.fetch_lines import SHRUNK, told_fetch
from ppcfetch.cli.output import json_option, print_json
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, told_kind
from ppcfetch.model.whereabouts import Explanation
from ppcfetch.settings import load_settings
from ppcfetch.usecases.explain_words import length, moment


@click.command()
@click.argument("what", metavar="JOB|DOMAIN")
@json_option
def explain(what: str, *, as_json: bool) -> None:
    """Tell where a job is, who holds it, why it does not run and what happens next.

    Before them, their fetch: which kind it is, whether it was split or topped up, what it found.
    For a domain: all jobs of its active fetch, or of the newest one when none is active.
    """
    with open_operators(load_settings()) as operators:
        told: Sequence[Explanation]
        if what.isascii() and what.isdigit():
            told = [operators.explain_job(JOB.convert(int(what), None, None))]
        else:
            told = operators.explain_domain(DomainName.parse(what))
        fetch = operators.fetch(told[0].job.fetch_id)
    if as_json:
        print_json([_row(one, fetch) for one in told])
        return
    click.secho(told_fetch(fetch), bold=True)
    if fetch.shrunk:
        click.echo(SHRUNK)
    for one in told:
        _say(one)


def _say(told: Explanation) -> None:
    job = told.job
    click.secho(f"Job {job.id}: {job.state}", bold=True)
    click.echo(f"  asked   fetch {job.fetch_id} of {job.domain}, pool {job.pool}")
    click.echo(f"  reads   {job.part}")
    since = f", since {moment(told.since)}" if told.since else ""
    click.echo(f"  where   {told.place}{since}")
    if told.holder:
        beat = f", last beat {length(told.beat_age)} ago" if told.beat_age is not None else ""
        page = f", moved {length(told.progress_age)} ago" if told.progress_age is not None else ""
        click.echo(f"  held    by {told.holder}{beat}{page}")
    click.echo(
        f"  done    {job.pages:,} pages; since the last one {job.starts} starts,"
        f" {job.attempts} attempts"
    )
    for reason in told.why:
        click.echo(f"  why     {reason}")
    click.echo(f"  next    {told.what_next}")


def _row(told: Explanation, fetch: Fetch) -> dict[str, object]:
    job = told.job
    return {
        "job": job.id,
        "fetch": job.fetch_id,
        "fetch_state": str(fetch.state),
        "fetch_kind": told_kind(fetch),
        "fetch_shrunk": fetch.shrunk,
        "domain": job.domain,
        "pool": str(job.pool),
        "part": job.part,
        "state": str(job.state),
        "pages": job.pages,
        "starts": job.starts,
        "attempts": job.attempts,
        "place": told.place,
        "since": told.since,
        "holder": told.holder,
        "beat_age_seconds": told.beat_age,
        "progress_age_seconds": told.progress_age,
        "why": told.why,
        "next": told.what_next,
    }
