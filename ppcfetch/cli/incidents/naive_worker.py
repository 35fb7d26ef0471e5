"""A worker as it is usually written: a program of its own, started by the replays only."""

import argparse
from datetime import timedelta
from itertools import count

from ppcfetch.adapters.archive.client import ArchiveClient
from ppcfetch.adapters.redis.naive import NaiveQueue, NaiveTask
from ppcfetch.bootstrap.incident import open_naive_worker
from ppcfetch.model.ad import Query
from ppcfetch.model.domain import DomainName
from ppcfetch.settings import load_settings

BLOCK = timedelta(milliseconds=50)


def main() -> None:
    """Take a message, do the work, acknowledge; for ever."""
    parser = argparse.ArgumentParser(description="A worker as it is usually written.")
    parser.add_argument("queue")
    parser.add_argument("consumer")
    parser.add_argument("--claim-seconds", type=float)
    chosen = parser.parse_args()
    idle = chosen.claim_seconds and timedelta(seconds=chosen.claim_seconds)
    with open_naive_worker(load_settings(), chosen.queue) as (queue, archive):
        while True:
            task = queue.next(chosen.consumer, block=BLOCK, claim_after=idle)
            if task is not None:
                _work(queue, archive, chosen.consumer, task)


def _work(queue: NaiveQueue, archive: ArchiveClient, consumer: str, task: NaiveTask) -> None:
    queue.begin(consumer, task)
    query, cursor = Query(DomainName.parse(task.domain)), None
    for number in count(1):
        cursor = archive.page(query, cursor).next_cursor
        queue.page(task, number)
        if cursor is None:
            break
    queue.finish(consumer, task)


if __name__ == "__main__":
    main()
