"""Whether database and stream answer, asked side by side for two seconds at most."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from typing import Generic, TypeVar

import structlog

from ppcfetch.errors import Unavailable
from ppcfetch.model.health import DatabaseFacts
from web.services import Health

PATIENCE = timedelta(seconds=2)
"""A crowded machine needs it: pages answer there while a shorter limit calls the site away."""

ANSWER_HOLDS = timedelta(seconds=3)
BETWEEN_WARNINGS = timedelta(seconds=30)

T = TypeVar("T")
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What a part said, or why it said nothing.

    Units: at is the moment of the answer in seconds of the clock.
    """

    value: T | None
    fault: str
    at: float


class Part(Generic[T]):
    """One thing to ask, with a thread of its own."""

    def __init__(self, name: str, ask: Callable[[], T], now: Clock) -> None:
        """Keep what to ask; nothing is asked yet."""
        self._ask = ask
        self._now = now
        self._thread = ThreadPoolExecutor(1, f"check-{name}")
        self._lock = Lock()
        self._asked: Future[Answer[T]] | None = None

    def begin(self) -> "Future[Answer[T]]":
        """Give the question under way, the answer of the last moments, or a new question.

        Shape: so questions to something hung do not pile up, and many callers cost one question.
        """
        with self._lock:
            if self._asked is None or (self._asked.done() and not self._is_fresh(self._asked)):
                self._asked = self._thread.submit(self._answer)
            return self._asked

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _is_fresh(self, asked: "Future[Answer[T]]") -> bool:
        if asked.exception() is not None:
            return False
        answer = asked.result()
        return not answer.fault and self._now() - answer.at < ANSWER_HOLDS.total_seconds()

    def _answer(self) -> Answer[T]:
        try:
            return Answer(self._ask(), "", self._now())
        except Unavailable as unavailable:
            return Answer(None, str(unavailable) or type(unavailable).__name__, self._now())


class Checks:
    """Gives the site's health when called."""

    def __init__(
        self,
        database_facts: Callable[[], DatabaseFacts],
        stream_epoch: Callable[[], str | None],
        *,
        patience: timedelta = PATIENCE,
        now: Clock = time.monotonic,
    ) -> None:
        """Keep what to ask, and a thread for each of the two."""
        self._database = Part("database", lambda: _fit(database_facts()), now)
        self._stream = Part("stream", stream_epoch, now)
        self._patience = patience
        self._now = now
        self._warned_at: float | None = None

    def __call__(self) -> Health:
        """Ask both; what does not answer in time counts as away."""
        deadline = time.monotonic() + self._patience.total_seconds()
        asked = self._stream.begin()
        database = self._in_time(self._database.begin(), deadline)
        stream = self._in_time(asked, deadline)
        found = Health(
            database=not database.fault, schema=database.value == "", stream=not stream.fault
        )
        if not (found.database and found.schema):
            self._warn(database=database.fault or database.value or "", stream=stream.fault)
        return found

    def close(self) -> None:
        """Let the threads end."""
        self._database.close()
        self._stream.close()

    def _in_time(self, asked: "Future[Answer[T]]", deadline: float) -> Answer[T]:
        try:
            return asked.result(timeout=max(0.0, deadline - time.monotonic()))
        except TookTooLong:
            fault = f"no answer within {self._patience.total_seconds():g} s"
            return Answer(None, fault, self._now())

    def _warn(self, **faults: str) -> None:
        now = self._now()
        if self._warned_at is None or now - self._warned_at >= BETWEEN_WARNINGS.total_seconds():
            self._warned_at = now
            structlog.get_logger().warning("site.not_ready", **faults)


def _fit(facts: DatabaseFacts) -> str:
    """Give what is wrong with the schema, empty when the site can work on it."""
    return "" if facts.is_fit else f"schema at {facts.revision}, the code wants {facts.head}"
