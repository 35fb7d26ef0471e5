"""Servers that keep what they confirm, filled queues, and worker processes to drain them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from redis import Redis

from ppcfetch.adapters.redis.connections import connect
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.bootstrap.parts import LONGEST_BLOCK
from ppcfetch.model.job import Pool
from tests.bench.raw_worker import GROUP, STREAM
from tests.servers import libpq
from tests.waiting import wait_until

# As `request_refresh` makes them: a domain, its fetch and the fetch's first job.
ADD = """
WITH made AS (
    SELECT format('bench-%%s-%%s.example', %(round)s::bigint, number) AS domain
    FROM generate_series(1, %(count)s::int) AS number
), domains_made AS (
    INSERT INTO domains (domain) SELECT domain FROM made RETURNING domain
), fetches_made AS (
    INSERT INTO fetches (domain, reason, asked_at)
    SELECT domain, 'import', clock_timestamp() FROM domains_made RETURNING id, domain
)
INSERT INTO jobs (fetch_id, kind, pool, domain, created_at, due_at)
SELECT id, 'walk', 'bulk', domain, clock_timestamp(), clock_timestamp() FROM fetches_made
RETURNING id
"""
SPAN = """
SELECT extract(epoch FROM max(finished_at) - min(taken_at))::float8 AS seconds
FROM jobs WHERE id = ANY(%s) AND state = 'done'
"""

KEEP = "UPDATE jobs SET error = error WHERE id = %s"


@dataclass
class Queues:
    """The bulk queue of jobs and the bare stream beside it."""

    database: str
    redis: str
    folder: Path

    def __post_init__(self) -> None:
        """Connect."""
        self.client = Redis.from_url(self.redis)
        self.clients = connect(self.redis, block=LONGEST_BLOCK)
        self.doorbell = RedisDoorbell(self.clients.rest, Keys())
        self.connection = psycopg.connect(libpq(self.database), autocommit=True)
        self.stream = Keys().stream(Pool.BULK)
        self.client.xgroup_create(STREAM, GROUP, "0", mkstream=True)

    def close(self) -> None:
        """Close every connection."""
        self.connection.close()
        self.clients.close()
        self.client.close()

    def add(self, count: int) -> list[int]:
        """Make jobs that nobody has rung for."""
        asked = {"round": time.monotonic_ns(), "count": count}
        ids = [int(row[0]) for row in self.connection.execute(ADD.encode(), asked)]
        self.connection.execute(b"ANALYZE jobs, fetches, domains")
        return ids

    def ring(self, ids: Sequence[int]) -> None:
        """Ring for jobs, all at once or one."""
        self.doorbell.publish([(job_id, Pool.BULK) for job_id in ids])

    def drain(self, ids: Sequence[int]) -> float:
        """Ring for jobs and wait until all are settled; gives jobs per second."""
        self.ring(ids)
        wait_until(
            lambda: self.client.xlen(self.stream) == 0, describe="all is settled", timeout=300
        )
        row = self.connection.execute(SPAN.encode(), [list(ids)]).fetchone()
        assert row is not None
        return len(ids) / float(row[0])

    def drain_raw(self, loops: Sequence["Raw"], count: int) -> float:
        """Let bare loops share so many messages; gives messages per second."""
        with self.client.pipeline(transaction=False) as pipe:
            for number in range(count):
                pipe.xadd(STREAM, {"d": f'{{"v":1,"job":{number}}}'})
            pipe.execute()
        for loop in loops:
            loop.begin(count // len(loops))
        spans = [loop.answer() for loop in loops]
        self.client.xtrim(STREAM, maxlen=0)
        return count * 1e9 / (max(span[1] for span in spans) - min(span[0] for span in spans))

    def keep(self, job_id: int) -> float:
        """Change one row by its id; gives the milliseconds until the disk has it."""
        began = time.monotonic_ns()
        self.connection.execute(KEEP.encode(), [job_id], prepare=True)
        return (time.monotonic_ns() - began) / 1e6

    def done(self, ids: Sequence[int]) -> int:
        """Count the jobs whose row and fetch say that they ended well."""
        query = b"""SELECT count(*) FROM jobs JOIN fetches ON fetches.id = jobs.fetch_id
            WHERE jobs.id = ANY(%s) AND jobs.state = 'done' AND fetches.state = 'done'
            AND jobs.fence = 1"""
        row = self.connection.execute(query, [list(ids)]).fetchone()
        assert row is not None
        return int(row[0])


class Raw:
    """A process with the bare loop."""

    def __init__(self, url: str, consumer: str, *, tell: bool = False) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.raw_worker", url, consumer, "tell" * tell or "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._line() == "ready"

    def begin(self, count: int) -> None:
        """Let it do so many jobs."""
        assert self.popen.stdin is not None
        self.popen.stdin.write(f"{count}\n")
        self.popen.stdin.flush()

    def answer(self) -> list[int]:
        """Give the times that it tells when it is done."""
        return [int(word) for word in self._line().split()]

    def stop(self) -> None:
        """End it."""
        self.popen.kill()
        self.popen.communicate()

    def _line(self) -> str:
        assert self.popen.stdout is not None
        return self.popen.stdout.readline().strip()


class Empty:
    """A worker process whose handler does nothing."""

    def __init__(self, queues: Queues, *, threads: int, tell: bool = False) -> None:
        self.log = queues.folder / f"empty-{time.monotonic_ns()}.log"
        arguments = ["-m", "tests.bench.empty_worker", "--threads", str(threads)]
        with self.log.open("wb") as log:
            self.popen = subprocess.Popen(
                [sys.executable, *arguments, *(["--tell"] * tell)],
                env={**os.environ, **_settings(queues)},
                stdout=subprocess.PIPE,
                stderr=log,
            )
        wait_until(lambda: b"worker.started" in self.log.read_bytes(), describe="it has started")

    def starts(self, count: int) -> Iterator[tuple[int, int]]:
        """Give the next jobs that began, with their times."""
        assert self.popen.stdout is not None
        for _ in range(count):
            job_id, at = self.popen.stdout.readline().split()
            yield int(job_id), int(at)

    def cpu_seconds(self) -> float:
        """Give the processor time that it has used."""
        fields = Path(f"/proc/{self.popen.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """Let it end."""
        self.popen.send_signal(signal.SIGTERM)
        self.popen.communicate(timeout=60)


@contextmanager
def empty_workers(queues: Queues, count: int, *, threads: int) -> Iterator[list[Empty]]:
    """Give worker processes that run meanwhile."""
    workers = [Empty(queues, threads=threads) for _ in range(count)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.stop()


@contextmanager
def raw_loops(queues: Queues, count: int) -> Iterator[list[Raw]]:
    """Give processes with the bare loop."""
    loops = [Raw(queues.redis, f"raw-{number}") for number in range(count)]
    try:
        yield loops
    finally:
        for loop in loops:
            loop.stop()


def _settings(queues: Queues) -> dict[str, str]:
    return {
        "PPCFETCH_DATABASE_URL": queues.database,
        "PPCFETCH_REDIS_URL": queues.redis,
        "PPCFETCH_ARCHIVE_URL": "http://127.0.0.1:9",
        # No sweep may ring for jobs that a measurement has not rung for yet.
        "PPCFETCH_SWEEP_SECONDS": "86400",
        "PPCFETCH_DATA_DIR": str(queues.folder / "var"),
    }
