"""The pools as status, ledger and doctor see them: rows and stream side by side."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from ppcfetch.adapters.database.engine import Engine
from ppcfetch.adapters.database.facts import PoolRows, pool_rows, sweeper_turn
from ppcfetch.adapters.database.ledger_rows import due_or_running
from ppcfetch.adapters.database.pauses import PostgresPauses
from ppcfetch.adapters.database.watches import PostgresWatches
from ppcfetch.adapters.redis.connections import Connections
from ppcfetch.adapters.redis.inspector import PoolCounts, RedisInspector
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.live_messages import live_messages
from ppcfetch.errors import StreamUnavailable
from ppcfetch.model.job import Pool
from ppcfetch.model.queue_health import PoolFacts, QueueFacts
from ppcfetch.usecases.ledger import Difference, Look, Message, differences, ledger_difference


class Pools:
    """Reads only."""

    def __init__(
        self, engine: Engine, redis: Connections, keys: Keys, *, schedule: timedelta | None = None
    ) -> None:
        """Keep the servers. Units: schedule is the age from which watched domains are due."""
        self._engine = engine
        self._client = redis.rest
        self._keys = keys
        self._watches = PostgresWatches(engine, engine)
        self._schedule = schedule
        self._pauses = PostgresPauses(engine)
        self._inspector = RedisInspector(redis.rest, keys)

    def rows(self) -> list[dict[str, object]]:
        """Give one row a pool; the stream's part is None while Redis is away."""
        counts: dict[Pool, PoolCounts] = {}
        workers: Counter[Pool | None] = Counter()
        with suppress(StreamUnavailable):
            workers = self._workers()
            counts = {pool: self._inspector.counts(pool) for pool in Pool}
        return [
            self._row(rows, counts.get(rows.pool), workers[rows.pool])
            for rows in pool_rows(self._engine)
        ]

    def facts(self, *, patience: timedelta) -> QueueFacts:
        """Give what the doctor judges. Raises: DatabaseUnavailable, StreamUnavailable."""
        workers = self._workers()
        pools = [self._facts(rows, workers) for rows in pool_rows(self._engine)]
        return QueueFacts(tuple(pools), sweeper_turn(self._engine), patience)

    def ledger(self) -> Sequence[Difference]:
        """Give what differs between rows and streams, in two looks in a row."""
        return differences(self._look)

    def _look(self) -> Look:
        messages = [
            Message(pool, one.token.message_id, one.job_id)
            for pool in Pool
            for one in live_messages(self._client, self._keys, pool)
        ]
        return Look(jobs=due_or_running(self._engine), messages=messages)

    def _workers(self) -> Counter[Pool | None]:
        return Counter(map(Keys.pool_of, self._inspector.bearers()))

    def _row(self, rows: PoolRows, counts: PoolCounts | None, workers: int) -> dict[str, object]:
        pause = self._pauses.pause_of(rows.pool)
        return {
            "pool": str(rows.pool),
            "paused_since": pause and pause.since,
            "paused_by": pause and pause.by,
            "paused_for": pause and pause.reason,
            "workers": None if counts is None else workers,
            "due": rows.due,
            "waiting_for_turn": rows.waiting,
            "not_yet_due": rows.not_yet_due,
            "running": rows.running,
            "dead": rows.dead,
            "oldest_waiting_seconds": _seconds(rows.oldest),
            "last_page_seconds_ago": _seconds(rows.progressed),
            **self._watched(rows.pool),
            "messages_waiting": counts and counts.undelivered,
            "messages_in_hand": counts and counts.in_hand,
            "ledger_difference": counts and _difference(rows, counts),
        }

    def _watched(self, pool: Pool) -> dict[str, object]:
        """Tell about watched domains, whose fetches wait in bulk; due is None while it is off."""
        if pool is not Pool.BULK:
            return {"watched_domains": None, "watched_due": None}
        facts = self._watches.facts(self._schedule)
        return {"watched_domains": facts.watched, "watched_due": facts.due}

    def _facts(self, rows: PoolRows, workers: Counter[Pool | None]) -> PoolFacts:
        return PoolFacts(
            pool=rows.pool,
            due=rows.due,
            running=rows.running,
            oldest=rows.oldest,
            dead=rows.dead,
            workers=workers[rows.pool],
            has_group=self._inspector.has_group(rows.pool),
            orphans=self._inspector.counts(rows.pool).orphans,
            pause=self._pauses.pause_of(rows.pool),
        )


def _difference(rows: PoolRows, counts: PoolCounts) -> int:
    return ledger_difference(
        due=rows.due,
        running=rows.running,
        undelivered=counts.undelivered,
        in_hand=counts.in_hand,
    )


def _seconds(length: timedelta | None) -> float | None:
    return None if length is None else round(length.total_seconds(), 1)
