"""The usual way to work with a stream, as it went wrong; only `ppcfetch incident` uses it.

Do not learn from it: leases are never renewed, names never come back, nothing is looked at
before it is published again. Beside the stream it keeps what happened, so that it can be shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from redis import Redis
from redis.exceptions import ResponseError

from ppcfetch.adapters.redis.connections import command, translated

GROUP = "naive"


@dataclass(frozen=True, slots=True)
class NaiveTask:
    """A message in a naive worker's hand."""

    message_id: str
    domain: str


class NaiveQueue:
    """One stream, its group, and the history of what was done with it.

    Raises: StreamUnavailable, from every method.
    """

    def __init__(self, client: Redis, name: str) -> None:
        self._client = client
        self._prefix = f"{{naive-{name}}}"
        self._stream = f"{self._prefix}:stream"

    def join(self, *, at: str) -> None:
        """Make the group at an id: "$" skips whatever was published before."""
        with translated():
            try:
                self._send("XGROUP", "CREATE", self._stream, GROUP, at, "MKSTREAM")
            except ResponseError as exc:
                if not str(exc).startswith("BUSYGROUP"):
                    raise

    def publish(self, domains: Sequence[str]) -> None:
        """Add one message for each domain, whether there is one already or not."""
        with translated():
            pipe = self._client.pipeline(transaction=False)
            now = self._now()
            for domain in domains:
                pipe.xadd(self._stream, {"domain": domain})
                pipe.hsetnx(f"{self._prefix}:published", domain, now)
            pipe.execute()

    def next(
        self, consumer: str, *, block: timedelta, claim_after: timedelta | None
    ) -> NaiveTask | None:
        """Take a message: one idle for `claim_after` since its delivery, else a new one."""
        with translated():
            claimed = self._claim(consumer, claim_after) if claim_after is not None else []
            entries = claimed or self._read(consumer, block)
        if not entries:
            return None
        message_id, fields = entries[0]
        return NaiveTask(message_id.decode(), fields[b"domain"].decode())

    def begin(self, consumer: str, task: NaiveTask) -> None:
        """Note that a worker runs a task, and how many do at once."""
        with translated():
            self._send("HSETNX", f"{self._prefix}:started", task.domain, self._now())
            running = f"{self._prefix}:running:{task.domain}"
            self._send("SADD", running, consumer)
            at_once = self._send("SCARD", running)
            self._send("ZADD", f"{self._prefix}:at-once", "GT", at_once, task.domain)

    def page(self, task: NaiveTask, number: int) -> None:
        """Note that a page of a task was stored."""
        with translated():
            self._send("HINCRBY", f"{self._prefix}:pages", f"{task.domain} {number}", 1)

    def finish(self, consumer: str, task: NaiveTask) -> None:
        """Acknowledge after the work, as everybody does."""
        with translated():
            self._send("HINCRBY", f"{self._prefix}:finished", task.domain, 1)
            self._send("SREM", f"{self._prefix}:running:{task.domain}", consumer)
            self._send("XACK", self._stream, GROUP, task.message_id)

    def messages(self) -> dict[str, int]:
        """Count the messages of each domain."""
        counts: dict[str, int] = {}
        with translated():
            for _, fields in self._send("XRANGE", self._stream, "-", "+"):
                domain = fields[b"domain"].decode()
                counts[domain] = counts.get(domain, 0) + 1
        return counts

    def most_deliveries(self) -> int:
        """Give the highest delivery counter of what is pending."""
        with translated():
            rows: Any = self._client.xpending_range(self._stream, GROUP, "-", "+", 1000)
        return max((int(row["times_delivered"]) for row in rows), default=0)

    def at_once(self, domain: str) -> int:
        """Give the most workers that ran a domain's task at the same time."""
        with translated():
            score = self._client.zscore(f"{self._prefix}:at-once", domain)
        return int(score) if isinstance(score, float) else 0

    def started(self) -> dict[str, float]:
        """Give how many seconds each domain's task that began had waited for it."""
        published, started = self._hash("published"), self._hash("started")
        return {name: float(began) - float(published[name]) for name, began in started.items()}

    def finished(self) -> dict[str, int]:
        """Give how often each domain's task was finished; those never finished are missing."""
        return {name: int(times) for name, times in self._hash("finished").items()}

    def pages_again(self) -> int:
        """Give how many pages were stored once more."""
        return sum(int(times) - 1 for times in self._hash("pages").values())

    def pending(self) -> dict[str, int]:
        """Give how many deliveries each consumer name holds; the group knows all that ever read."""
        with translated():
            rows = self._send("XINFO", "CONSUMERS", self._stream, GROUP)
        facts = [dict(zip(row[::2], row[1::2], strict=True)) for row in rows]
        return {one[b"name"].decode(): int(one[b"pending"]) for one in facts}

    def is_read(self) -> bool:
        """Tell whether the group was given everything that it will ever be given."""
        with translated():
            groups = self._send("XINFO", "GROUPS", self._stream)
            last = self._send("XREVRANGE", self._stream, "+", "-", "COUNT", 1)
        facts = dict(zip(groups[0][::2], groups[0][1::2], strict=True))
        return bool(last) and facts[b"last-delivered-id"] == last[0][0]

    def _claim(self, consumer: str, idle: timedelta) -> Sequence[Any]:
        milliseconds = round(idle / timedelta(milliseconds=1))
        reply = self._send(
            "XAUTOCLAIM", self._stream, GROUP, consumer, milliseconds, "0-0", "COUNT", 1
        )
        return list(reply[1])

    def _read(self, consumer: str, block: timedelta) -> Sequence[Any]:
        milliseconds = round(block / timedelta(milliseconds=1))
        reply = self._send(
            "XREADGROUP", "GROUP", GROUP, consumer, "COUNT", 1, "BLOCK", milliseconds,
            "STREAMS", self._stream, ">",
        )  # fmt: skip
        return list(reply[0][1]) if reply else []

    def _now(self) -> str:
        seconds, microseconds = self._client.time()
        return f"{seconds}.{microseconds:06}"

    def _hash(self, what: str) -> dict[str, str]:
        with translated():
            found: Any = self._client.hgetall(f"{self._prefix}:{what}")
        return {name.decode(): value.decode() for name, value in found.items()}

    def _send(self, *words: str | int) -> Any:
        return command(self._client, *words)
