"""Put dead jobs aside, with the reason: nobody needs to look at them again."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from ppcfetch.errors import NotFound, StreamUnavailable
from ppcfetch.model.operation import Deed
from ppcfetch.ports import DeadLetters, Fetches


@dataclass(frozen=True, slots=True)
class Discarded:
    """What became of the wish to discard a job. Shape: refused is None when it is aside now."""

    job: int
    refused: str | None = None


def discard_dead(
    job_ids: Sequence[int], deed: Deed, *, fetches: Fetches, letters: DeadLetters
) -> Sequence[Discarded]:
    """Give for each job, in order, whether it is put aside, and why not.

    The job stays dead and its fetch as it ended: only the lists of dead jobs leave it out.
    Raises: DatabaseUnavailable: some may be aside already; asking again is safe.
    """
    done = [_discard(job_id, deed, fetches) for job_id in dict.fromkeys(job_ids)]
    aside = {one.job for one in done if one.refused is None}
    try:
        letters.forget(aside)
    except StreamUnavailable as silent:
        structlog.get_logger().warning("letters.kept", error=str(silent))
    return done


def _discard(job_id: int, deed: Deed, fetches: Fetches) -> Discarded:
    try:
        fetches.discard(job_id, deed)
    except NotFound as no:
        return Discarded(job_id, refused=str(no))
    return Discarded(job_id)
