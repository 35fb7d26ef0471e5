"""The jobs that should have a message now."""

from collections.abc import Iterator

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.engine import translated
from ppcfetch.model.job import Pool

_BATCH = 5000

_DUE_OR_RUNNING = text("""
SELECT id FROM jobs
WHERE pool = :pool AND state IN ('queued', 'running') AND id > :after
    AND admitted AND (state = 'running' OR due_at <= clock_timestamp())
ORDER BY id LIMIT :count
""")


def due_or_running(engine: Engine) -> Iterator[tuple[int, Pool]]:
    """Walk through the jobs of all pools that are due or running. Raises: DatabaseUnavailable."""
    for pool in Pool:
        after = 0
        while True:
            asked = {"pool": str(pool), "after": after, "count": _BATCH}
            with translated(), engine.connect() as connection:
                ids = connection.scalars(_DUE_OR_RUNNING, asked).all()
            yield from ((job_id, pool) for job_id in ids)
            if len(ids) < _BATCH:
                break
            after = ids[-1]
