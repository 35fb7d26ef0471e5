"""Ringing for jobs: at most one live message a job, however often anybody asks."""

from collections.abc import Sequence

from redis import Redis

from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.messages import encode
from ppcfetch.adapters.redis.scripts import STREAM, Argument, Scripts
from ppcfetch.model.job import Pool

LARGEST_BATCH = 500


class RedisDoorbell:
    """Port Doorbell on one client."""

    def __init__(self, client: Redis, keys: Keys) -> None:
        self._scripts = Scripts(client, STREAM)
        self._keys = keys.doorbell

    def publish(self, jobs: Sequence[tuple[int, Pool]]) -> int:
        """Ring for jobs that have no live message; gives how many messages were added."""
        # In slices, since the server does nothing else while a step runs.
        return sum(
            self._publish(jobs[start : start + LARGEST_BATCH])
            for start in range(0, len(jobs), LARGEST_BATCH)
        )

    def _publish(self, jobs: Sequence[tuple[int, Pool]]) -> int:
        arguments: list[Argument] = []
        for job_id, pool in jobs:
            arguments += [job_id, pool.value, encode(job_id)]
        return int(self._scripts.run("publish", self._keys, arguments))
