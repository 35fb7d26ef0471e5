"""Everything a schedule of faults happens to: servers, links, and workers kept running."""

import shutil
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from psycopg import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from tests.e2e.chaos.lanes import Lane
from tests.e2e.chaos.link import Link, dial_tcp, dial_unix, tcp_listener, unix_listener
from tests.e2e.plant import Plant, Process
from tests.servers import heal

LEASE_SECONDS = 1.0
POOLS = ("interactive", "interactive", "bulk", "bulk")
THREADS = 4
BUDGET_PAGES = 4
SETTINGS = {
    "PPCFETCH_LEASE_SECONDS": str(LEASE_SECONDS),
    "PPCFETCH_SWEEP_SECONDS": "0.25",
    "PPCFETCH_INTERACTIVE_PAGES": str(BUDGET_PAGES),
    "PPCFETCH_MAX_STARTS": "50",
    "PPCFETCH_MAX_ATTEMPTS": "50",
}
"""Budgets for starts and attempts are wide: a job that is killed again and again is no loss."""


@dataclass
class Post:
    """One worker's place: its own links, and whoever works there now."""

    number: int
    pool: str
    links: dict[str, Link]
    settings: dict[str, str]
    worker: Process | None = None


@dataclass
class Stage:
    """Where a schedule is played."""

    plant: Plant
    postgres: EmbeddedPostgres
    valkey: EmbeddedValkey
    posts: list[Post] = field(default_factory=list)
    older: Path | None = None

    def start(self, post: Post) -> None:
        """Have a new worker begin at a post."""
        arguments = ("worker", "--pool", post.pool, "--threads", str(THREADS))
        post.worker = self.plant.command(*arguments, **post.settings)

    def keep_running(self) -> None:
        """Start again what has left by itself, as a supervisor does."""
        for post in self.posts:
            if post.worker is not None and post.worker.popen.poll() is not None:
                self.start(post)

    def signal(self, post: Post, number: signal.Signals) -> None:
        """Send a signal to the worker at a post."""
        if post.worker is not None:
            post.worker.signal(number)

    def workers(self) -> list[int]:
        """Give the process ids of all workers."""
        return [post.worker.popen.pid for post in self.posts if post.worker is not None]

    def busiest(self) -> Post:
        """Give the post whose worker has most jobs in hand; the first one when none is known."""
        jobs = Counter(row["holder"] for row in self._running())
        holder = jobs.most_common(1)[0][0] if jobs else ""
        named = [p for p in self.posts if holder.startswith(p.settings["PPCFETCH_WORKER_NAME"])]
        return (named or self.posts)[0]

    def fences(self, post: Post) -> dict[int, int]:
        """Give the fence of each job that the worker at a post has; of none when it cannot tell."""
        name = post.settings["PPCFETCH_WORKER_NAME"]
        return {
            row["id"]: row["fence"] for row in self._running() if row["holder"].startswith(name)
        }

    def passed_on(self, fences: dict[int, int]) -> bool:
        """Tell whether one of these jobs has got a newer fence, or none is left to get one."""
        now = {row["id"]: row["fence"] for row in self._running()}
        return any(now.get(job, 0) > fence for job, fence in fences.items()) or not fences

    def _running(self) -> Sequence[dict[str, Any]]:
        try:
            return self.plant.query("SELECT id, fence, holder FROM jobs WHERE state = 'running'")
        except OperationalError:
            return []

    def copy_redis(self) -> None:
        """Keep what Redis has on its disk now, as a backup that is no longer new later."""
        older = self.plant.folder / "older"
        shutil.rmtree(older, ignore_errors=True)
        with suppress(shutil.Error):  # a file that was renamed while it was copied
            shutil.copytree(self.valkey.folder / "data", older)
            self.older = older

    def rewind_redis(self) -> bool:
        """Start Redis from the older copy, if there is one."""
        if self.older is None:
            return False
        data = self.valkey.folder / "data"
        heal(self.valkey)  # a suspended server would not hear that it is to stop
        self.valkey.stop()
        shutil.rmtree(data)
        shutil.copytree(self.older, data)
        self.valkey.start()
        return True

    def redis(self, *words: str | int) -> object:
        """Send one command to Redis, around all links; None when it cannot answer."""
        try:
            with Redis.from_url(self.valkey.url, socket_timeout=1) as client:
                return client.execute_command(*words)
        except RedisError:
            return None

    def end_faults(self) -> None:
        """End every fault: all servers answer, all links pass, nobody is suspended."""
        for post in self.posts:
            for link in post.links.values():
                link.heal(drop=False)
            self.signal(post, signal.SIGCONT)
        for server in (self.postgres, self.valkey):
            heal(server)
        self.redis("CONFIG", "SET", "maxmemory", 0)

    def all_work(self) -> bool:
        """Tell whether every worker has started."""
        self.keep_running()
        workers = [post.worker for post in self.posts]
        return all(w and w.popen.poll() is None and w.events("worker.started") for w in workers)


@contextmanager
def stage(folder: Path, lane: Lane, *, name: str) -> Iterator[Stage]:
    """Give a stage with a database and a Redis of its own, its workers at work."""
    with ExitStack() as stack:
        valkey = stack.enter_context(EmbeddedValkey(folder / "valkey"))
        stack.callback(valkey.destroy)
        url = lane.databases.migrated()
        stack.callback(lane.databases.drop, url)
        plant = Plant(folder, url, valkey.url, dict(SETTINGS))
        plant.archive, plant.nursery = lane.archive, lane.nursery
        made = Stage(plant, lane.databases.server, valkey)
        stack.callback(_close_links, made)
        stack.callback(plant.stop)
        for number, pool in enumerate(POOLS):
            post = _post(made, number, pool, name)
            made.posts.append(post)
            made.start(post)
        yield made


def _post(made: Stage, number: int, pool: str, name: str) -> Post:
    folder = made.plant.folder / f"{number}"
    folder.mkdir()
    postgres = made.plant.database.partition("?host=")[2].partition("&")[0]
    valkey = urlsplit(made.plant.redis).path
    listener = tcp_listener()
    archive = f"http://127.0.0.1:{listener.getsockname()[1]}"
    links = {
        "database": Link(
            unix_listener(f"{folder}/.s.PGSQL.5432"), dial_unix(f"{postgres}/.s.PGSQL.5432")
        ),
        "redis": Link(unix_listener(f"{folder}/r"), dial_unix(valkey)),
        "archive": Link(listener, dial_tcp(urlsplit(made.plant.archive).port or 0)),
    }
    settings = {
        "PPCFETCH_DATABASE_URL": made.plant.database.replace(postgres, str(folder)),
        "PPCFETCH_REDIS_URL": made.plant.redis.replace(valkey, f"{folder}/r"),
        "PPCFETCH_ARCHIVE_URL": archive,
        "PPCFETCH_WORKER_NAME": f"{name}-{number}",
    }
    return Post(number, pool, links, settings)


def _close_links(made: Stage) -> None:
    for post in made.posts:
        for link in post.links.values():
            link.close()
