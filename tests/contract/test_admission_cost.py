"""Letting in while many wait, and many at once: on PostgreSQL only."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from sqlalchemy import Connection, event

from ppcfetch.model.fetch import FetchReason
from ppcfetch.model.job import Pool
from tests.contract.database_rig import RealRig

WAITING = 200_000
BLOCKS = 1_500
"""Far above what a full window of 32 changes, far below what a look at all who wait reads."""

FILL = """
INSERT INTO jobs (fetch_id, kind, pool, domain, asker, admitted, created_at, due_at)
SELECT :fetch, 'walk', 'bulk', 'a.example', -1, false, now(), now() - interval '1 hour'
FROM generate_series(1, :count)
"""


def crowd(postgres: RealRig, count: int) -> int:
    """Let so many jobs of one asker wait; gives the job of another who came last."""
    postgres.let_in(window=2)
    fetch = postgres.ask("a.example", FetchReason.IMPORT).fetch.id
    postgres.run(FILL, fetch=fetch, count=count)
    [row] = postgres.run(
        "INSERT INTO jobs (fetch_id, kind, pool, domain, asker, admitted)"
        " VALUES (:fetch, 'walk', 'bulk', 'b.example', 7, false) RETURNING id",
        fetch=fetch,
    )
    return int(row.id)


def test_letting_in_reads_no_line_further_than_there_is_room(postgres: RealRig) -> None:
    last = crowd(postgres, WAITING)
    postgres.run("ANALYZE jobs")
    postgres.let_in(window=32)
    blocks: list[int] = []

    def explained(
        connection: Connection, _cursor: object, statement: str, values: Any, *_: object
    ) -> None:
        if statement.lstrip().startswith(("WITH RECURSIVE", "SELECT EXISTS")):
            raw = connection.connection.driver_connection
            assert raw is not None
            # What is explained happens: it is taken back, so that it can happen once more.
            with raw.transaction(force_rollback=True), raw.cursor() as cursor:
                cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", values)
                plan = cursor.fetchone()[0][0]["Plan"]
            blocks.append(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])

    event.listen(postgres.engine, "before_cursor_execute", explained)
    admitted = postgres.due.admit()
    event.remove(postgres.engine, "before_cursor_execute", explained)

    assert (last, Pool.BULK) in admitted
    assert len(admitted) == 31
    assert len(blocks) == 2
    assert max(blocks) < BLOCKS


def test_any_number_who_let_in_at_once_let_nobody_in_twice_and_none_too_many(
    postgres: RealRig,
) -> None:
    crowd(postgres, 100)
    postgres.let_in(window=20)
    barrier = Barrier(6)

    def admit(_: int) -> list[tuple[int, Pool]]:
        barrier.wait()
        return list(postgres.due.admit())

    with ThreadPoolExecutor(6) as threads:
        admitted = [one for jobs in threads.map(admit, range(6)) for one in jobs]

    ready = postgres.run("SELECT id FROM jobs WHERE admitted AND state = 'queued'")
    assert len(admitted) == len(set(admitted)) == 19
    assert len(ready) == 20
