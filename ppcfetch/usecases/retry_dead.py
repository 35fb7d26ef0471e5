"""Queue dead jobs again: the row first, then its letters, then the doorbell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog

from ppcfetch.errors import NotFound, Refused, StreamUnavailable
from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Deed
from ppcfetch.ports import DeadLetters, Doorbell, Fetches


@dataclass(frozen=True, slots=True)
class Retried:
    """What became of the wish to retry a job. Shape: refused is None when it was queued."""

    job: int
    pool: Pool | None = None
    refused: str | None = None


def retry_dead(
    job_ids: Sequence[int],
    deed: Deed,
    *,
    fetches: Fetches,
    letters: DeadLetters,
    doorbell: Doorbell,
) -> Sequence[Retried]:
    """Give for each job, in order, whether it was queued again, and why not.

    Once this returns the rows say so; when Redis is away, a sweeper rings later, and the letters
    stay until newer ones push them out.
    Raises: DatabaseUnavailable: some may be queued already; asking again is safe.
    """
    retried = []
    ringing: dict[int, Pool] = {}
    for job_id in dict.fromkeys(job_ids):
        one, jobs = _retry(job_id, deed, fetches)
        retried.append(one)
        ringing |= jobs
    queued = {one.job for one in retried if one.pool is not None}
    if not queued:
        return retried
    try:
        # Before ringing: a job that dies again at once must keep its new letter.
        letters.forget(queued)
        doorbell.publish(sorted(ringing.items()))
    except StreamUnavailable as silent:
        structlog.get_logger().warning("doorbell.silent", error=str(silent))
    return retried


def _retry(job_id: int, deed: Deed, fetches: Fetches) -> tuple[Retried, Mapping[int, Pool]]:
    try:
        revived = fetches.retry(job_id, deed)
    except (NotFound, Refused) as no:
        return Retried(job_id, refused=str(no)), {}
    return Retried(job_id, revived.pool), dict(revived.jobs)
