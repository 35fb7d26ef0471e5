"""How fast jobs pass through the whole protocol: row, lease, empty handler, settle."""

from collections.abc import Iterator
from statistics import median, quantiles
from time import monotonic_ns

import pytest

from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from tests.bench.queue_rig import Empty, Queues, Raw, empty_workers, raw_loops
from tests.servers import Databases, short_folder
from tests.waiting import wait_until

SLOTS = 16
JOBS = 2_000
ROUNDS = 3
RINGS = 150
IDLE_SECONDS = 60
LEAST = 0.25


@pytest.fixture(scope="module")
def queues() -> Iterator[Queues]:
    """Give queues on servers that write to disk what they confirm."""
    with (
        short_folder() as folder,
        EmbeddedPostgres(folder / "postgres", durable=True) as postgres,
        EmbeddedValkey(folder / "valkey") as valkey,
    ):
        made = Queues(Databases(postgres).migrated(), valkey.url, folder)
        yield made
        made.close()


@pytest.mark.parametrize("processes", [1, 2])
def test_jobs_a_second_against_a_bare_loop(queues: Queues, processes: int) -> None:
    rates = []
    with (
        empty_workers(queues, processes, threads=SLOTS),
        raw_loops(queues, processes) as loops,
    ):
        queues.drain(queues.add(JOBS // 4))
        queues.drain_raw(loops, JOBS // 4)
        for _ in range(ROUNDS):
            ids = queues.add(JOBS)
            rates.append((queues.drain_raw(loops, JOBS), queues.drain(ids)))
            assert queues.done(ids) == JOBS

    ratio = median(ours / raw for raw, ours in rates)
    # Less than this even on a busy machine means that batches are not batches any more.
    assert ratio > LEAST
    raw, ours = (median(side) for side in zip(*rates, strict=True))
    print(
        f"\nqueue, {processes} process(es) of {SLOTS} slots: {ratio:.2f} times the bare loop"
        f" ({ours:,.0f} against {raw:,.0f} jobs a second)"
    )


def test_start_on_an_idle_queue_against_a_bare_loop(queues: Queues) -> None:
    worker, loop = Empty(queues, threads=SLOTS, tell=True), Raw(queues.redis, "one", tell=True)
    ours, raw, kept = [], [], []
    try:
        for job_id in queues.add(RINGS):
            ours.append(_ring(queues, worker, job_id))
            raw.append(_ring_raw(queues, loop))
            kept.append(queues.keep(job_id))
    finally:
        worker.stop()
        loop.stop()

    for name, share in (("p50", 50), ("p99", 99)):
        mine, bare, row = (quantiles(times, n=100)[share - 1] for times in (ours, raw, kept))
        print(
            f"\nstart, {name}: {mine / bare:.2f} times the bare loop ({mine:.2f}, {bare:.2f} ms),"
            f" {mine / (bare + row):.2f} times it with one row kept ({row:.2f} ms more)"
        )
    assert len(ours) == RINGS


def test_an_idle_worker_costs_nothing_and_starts_at_once(queues: Queues) -> None:
    worker = Empty(queues, threads=4, tell=True)
    try:
        (job_id,) = queues.add(1)
        before, began = worker.cpu_seconds(), monotonic_ns()
        wait_until(
            lambda: monotonic_ns() - began > IDLE_SECONDS * 1e9, describe="idle", timeout=120
        )
        share = (worker.cpu_seconds() - before) * 1e9 / (monotonic_ns() - began)
        first = _ring(queues, worker, job_id)
    finally:
        worker.stop()

    print(f"\nidle for {IDLE_SECONDS} s: {share:.2%} of a processor; then a start {first:.1f} ms")
    assert b'"level": "error"' not in worker.log.read_bytes()


def _ring(queues: Queues, worker: Empty, job_id: int) -> float:
    """Give the milliseconds from publishing to the handler's start, on a queue at rest."""
    wait_until(lambda: queues.client.xlen(queues.stream) == 0, describe="the queue is idle")
    rung = monotonic_ns()
    queues.ring([job_id])
    ((started, at),) = worker.starts(1)
    assert started == job_id
    return (at - rung) / 1e6


def _ring_raw(queues: Queues, loop: Raw) -> float:
    loop.begin(1)
    rung = monotonic_ns()
    queues.client.xadd("raw", {"d": "{}"})
    return (loop.answer()[0] - rung) / 1e6
