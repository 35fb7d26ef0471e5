"""What Redis tells of jobs, for `explain`."""

from collections import Counter
from collections.abc import Sequence

from ppcfetch.adapters.redis.inspector import RedisInspector
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.model.job_view import JobView
from ppcfetch.model.whereabouts import StreamFacts


def stream_facts(
    jobs: Sequence[JobView], *, inspector: RedisInspector, egresses: Sequence[str]
) -> Sequence[StreamFacts]:
    """Give the facts of each job, in order. Raises: StreamUnavailable."""
    bearers = inspector.bearers()
    workers = Counter(Keys.pool_of(name) for name in bearers)
    rest = inspector.resting(egresses)
    return [
        StreamFacts(
            message=inspector.where(job.id),
            workers=workers[job.pool],
            bearer=bearers.get(job.holder or ""),
            rest=rest,
        )
        for job in jobs
    ]
