"""`ppcfetch dead`: jobs that need a person."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

import click

from ppcfetch.bootstrap.operators import open_operators
from ppcfetch.cli.arguments import JOB
from ppcfetch.cli.output import json_option, print_json, print_rows
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.job_view import JobFilter, JobView
from ppcfetch.model.operation import Action, Deed
from ppcfetch.settings import load_settings
from ppcfetch.usecases.discard_dead import Discarded
from ppcfetch.usecases.retry_dead import Retried

jobs_argument = click.argument("jobs", type=JOB, nargs=-1, required=True)


@click.group()
def dead() -> None:
    """Look after jobs that gave up: nothing more happens to them by itself."""


@dead.command("list")
@click.option("--pool", type=click.Choice([p.value for p in Pool]), help="Of one pool only.")
@click.option("--all", "with_discarded", is_flag=True, help="Also those that were discarded.")
@click.option("--after", type=JOB, help="Go on behind this job.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--unreadable", is_flag=True, help="Messages that name no job instead.")
@json_option
def list_(
    pool: str | None,
    after: int | None,
    limit: int,
    *,
    with_discarded: bool,
    unreadable: bool,
    as_json: bool,
) -> None:
    """Show dead jobs, newest first."""
    wanted = JobFilter(
        states=frozenset({JobState.DEAD}),
        pool=Pool(pool) if pool else None,
        after=after,
        with_discarded=with_discarded,
        count=limit,
    )
    with open_operators(load_settings()) as operators:
        if unreadable:
            rows = [
                {"id": one.id, "at": one.at, "reason": one.reason, "raw": repr(one.raw)}
                for one in operators.letters.unreadable()
            ]
        else:
            rows = [_row(job) for job in operators.job_views.newest(wanted)]
    print_rows(rows, as_json=as_json, title="Dead", empty="Nothing is dead.")


@dead.command()
@click.argument("job", type=JOB)
@json_option
def show(job: int, *, as_json: bool) -> None:
    """Show everything that is known of the dead JOB."""
    with open_operators(load_settings()) as operators:
        story = operators.dead_job(job)
    if as_json:
        print_json(asdict(story))
        return
    print_rows(
        [
            {"": name.replace("_", " "), "value": value if _is_plain(value) else str(value)}
            for name, value in asdict(story.job).items()
        ],
        as_json=False,
        title=f"Job {job}",
        empty="",
    )
    for letter in story.letters:
        click.echo(
            f"{letter.at:%Y-%m-%d %H:%M:%S}  message {letter.message_id} given up after"
            f" {letter.deliveries} deliveries: {letter.reason}"
        )
    for noted in story.deeds:
        why = f": {noted.deed.reason}" if noted.deed.reason else ""
        click.echo(f"{noted.at:%Y-%m-%d %H:%M:%S}  {noted.deed.action} by {noted.deed.who}{why}")


@dead.command()
@jobs_argument
@click.option("--reason", help="Why; kept in the audit.")
@json_option
def retry(jobs: Sequence[int], reason: str | None, *, as_json: bool) -> None:
    """Queue dead JOBS again at their last stored page, starts and attempts from zero."""
    with open_operators(load_settings()) as operators:
        done = operators.retry_dead(jobs, Deed(operators.who, Action.RETRY, reason))
    _tell(done, "is queued again", as_json=as_json)


@dead.command()
@jobs_argument
@click.option("--reason", required=True, help="Why nobody needs to look at them again.")
@json_option
def discard(jobs: Sequence[int], reason: str, *, as_json: bool) -> None:
    """Leave dead JOBS out of the lists. They stay dead; `dead list --all` still shows them."""
    with open_operators(load_settings()) as operators:
        done = operators.discard_dead(jobs, Deed(operators.who, Action.DISCARD, reason))
    _tell(done, "is put aside", as_json=as_json)


def _tell(done: Sequence[Retried] | Sequence[Discarded], verb: str, *, as_json: bool) -> None:
    """Say what became of each job; exit 1 when one was refused."""
    if as_json:
        print_json([asdict(one) for one in done])
    else:
        for one in done:
            refused = f"is left as it is: {one.refused}" if one.refused else ""
            click.echo(f"Job {one.job} {refused or verb}.", err=bool(refused))
    sys.exit(any(one.refused for one in done))


def _is_plain(value: object) -> bool:
    """Tell whether the table knows how to show it; numbers would push the rest to the right."""
    return value is None or isinstance(value, datetime)


def _row(job: JobView) -> dict[str, object]:
    return {
        "job": job.id,
        "fetch": job.fetch_id,
        "domain": job.domain,
        "pool": str(job.pool),
        "part": job.part,
        "died": job.finished_at,
        "pages": job.pages,
        "error": job.error,
        "discarded": job.discarded_at,
    }
