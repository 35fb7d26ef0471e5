"""What `ppcfetch import` of a long list costs, beside bare inserts of the same rows."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

import psycopg
import pytest
from redis import Redis

from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.model.job import Pool
from tests.figures import keep
from tests.servers import Databases, libpq, short_folder

LINES = int(os.environ.get("IMPORT_LINES", "200000"))
BATCH = 500
MESSAGES = 10_000

FLOOR = (
    "INSERT INTO domains (domain) SELECT unnest(%(names)s::text[])",
    "INSERT INTO fetches (domain, reason) SELECT unnest(%(names)s::text[]), 'import'",
    """
    INSERT INTO jobs (fetch_id, kind, pool, domain, asker, admitted)
    SELECT id, 'walk', 'bulk', domain, -1, false FROM fetches
    WHERE domain = ANY(%(names)s) AND state = 'active'
    """,
)


@pytest.fixture
def databases() -> Iterator[Databases]:
    """Give a server that writes to disk what it confirms."""
    with short_folder() as folder, EmbeddedPostgres(folder / "postgres", durable=True) as server:
        yield Databases(server)


def test_an_import_against_bare_inserts(
    databases: Databases, redis_url: str, tmp_path: Path
) -> None:
    names = [f"shop-{number:07}.example" for number in range(LINES)]
    listed = tmp_path / "list.txt"
    listed.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    url = databases.migrated()

    with Redis.from_url(redis_url) as redis:
        begun = redis.info("memory")["used_memory"]
        dry, peak = run(listed, url, redis_url, "--dry-run")
        first, peak = run(listed, url, redis_url)
        again, _ = run(listed, url, redis_url)
        grown = redis.info("memory")["used_memory"] - begun
        messages = redis.xlen(Keys().stream(Pool.BULK))
        each = bytes_a_message(redis)
    floor = bare(databases.migrated(), names)

    for words, figure in {
        "lines": f"{LINES:,}",
        "seconds": f"{first:.0f} ({first / floor:.2f} times bare inserts: {floor:.0f})",
        "seconds of a dry run": f"{dry:.0f}",
        "seconds when run again": f"{again:.0f}",
        "peak of its memory": f"{peak:.0f} MiB",
        "messages in Redis afterwards": f"{messages:,}",
        "growth of Redis": f"{grown / 1024:,.0f} KiB",
        "Redis, bytes a message": f"{each:,.0f}",
    }.items():
        keep("import", words, figure)


def run(listed: Path, database: str, redis: str, *options: str) -> tuple[float, float]:
    """Run the command; gives seconds and its peak of memory in MiB."""
    environment = {
        **os.environ,
        "PPCFETCH_DATABASE_URL": database,
        "PPCFETCH_REDIS_URL": redis,
        "PPCFETCH_DATA_DIR": str(listed.parent / "data"),
    }
    begun = perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "ppcfetch", "import", str(listed), *options], env=environment
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0
    return perf_counter() - begun, used.ru_maxrss / 1024


def bare(url: str, names: Sequence[str]) -> float:
    """Insert the same rows in the same transactions; gives seconds."""
    with psycopg.connect(libpq(url)) as connection:
        begun = perf_counter()
        for start in range(0, len(names), BATCH):
            for statement in FLOOR:
                connection.execute(statement, {"names": list(names[start : start + BATCH])})
            connection.commit()
        return perf_counter() - begun


def bytes_a_message(redis: Redis) -> float:
    """Ring for many jobs at once; gives what a message and the note of it take."""
    begun = redis.info("memory")["used_memory"]
    first = 10**9
    RedisDoorbell(redis, Keys()).publish(
        [(first + number, Pool.BULK) for number in range(MESSAGES)]
    )
    return float(redis.info("memory")["used_memory"] - begun) / MESSAGES
