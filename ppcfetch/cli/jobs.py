"""`ppcfetch jobs`: every job, newest first."""

import click

from ppcfetch.bootstrap.operators import open_operators
from ppcfetch.cli.arguments import JOB
from ppcfetch.cli.output import json_option, print_rows
from ppcfetch.model.domain import DomainName
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.job_view import JobFilter, JobView
from ppcfetch.settings import load_settings


@click.command()
@click.option(
    "--state",
    "states",
    type=click.Choice([s.value for s in JobState]),
    multiple=True,
    help="In this state only; may be given several times.",
)
@click.option("--pool", type=click.Choice([p.value for p in Pool]), help="Of one pool only.")
@click.option("--domain", help="Of one domain only.")
@click.option("--after", type=JOB, help="Go on behind this job.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@json_option
def jobs(
    states: tuple[str, ...],
    pool: str | None,
    domain: str | None,
    after: int | None,
    *,
    limit: int,
    as_json: bool,
) -> None:
    """List jobs, newest first; `ppcfetch explain JOB` tells more of one."""
    wanted = JobFilter(
        states=frozenset(map(JobState, states)),
        pool=Pool(pool) if pool else None,
        domain=DomainName.parse(domain) if domain else None,
        after=after,
        count=limit,
    )
    with open_operators(load_settings()) as operators:
        found = operators.job_views.newest(wanted)
    row = _whole_row if as_json else _row
    rows = [row(job) for job in found]
    print_rows(rows, as_json=as_json, title="Jobs", empty="There are no such jobs.")


def _row(job: JobView) -> dict[str, object]:
    return {
        "job": job.id,
        "state": str(job.state),
        "pool": str(job.pool),
        "domain": job.domain,
        "part": job.part,
        "pages": job.pages,
        "asked_at": job.created_at,
        "error": job.error,
    }


def _whole_row(job: JobView) -> dict[str, object]:
    return {
        **_row(job),
        "fetch": job.fetch_id,
        "part_of": job.parent_id,
        "due_at": job.due_at,
        "last_page_at": job.progressed_at,
        "finished_at": job.finished_at,
        "starts": job.starts,
        "attempts": job.attempts,
        "holder": job.holder if job.state is JobState.RUNNING else None,
    }
