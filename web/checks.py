"""Whether database and stream answer, asked side by side for half a second at most."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from datetime import timedelta
from typing import TypeVar

from ppcfetch.errors import Unavailable
from ppcfetch.model.health import DatabaseFacts
from web.services import Health

PATIENCE = timedelta(milliseconds=500)

T = TypeVar("T")


class Checks:
    """Gives the site's health when called."""

    def __init__(
        self,
        database_facts: Callable[[], DatabaseFacts],
        stream_epoch: Callable[[], str | None],
        patience: timedelta = PATIENCE,
    ) -> None:
        """Keep what to ask, and a thread for each of the two."""
        self._database_facts = database_facts
        self._stream_epoch = stream_epoch
        self._patience = patience
        self._database = ThreadPoolExecutor(1, "check-database")
        self._stream = ThreadPoolExecutor(1, "check-stream")

    def __call__(self) -> Health:
        """Ask both; what does not answer in time counts as away."""
        stream = self._stream.submit(_answers, self._stream_epoch)
        facts = self._in_time(self._database.submit(_given, self._database_facts))
        return Health(
            database=facts is not None,
            schema=facts is not None and facts.is_fit,
            stream=self._in_time(stream) is True,
        )

    def close(self) -> None:
        """Let the threads end."""
        self._database.shutdown(wait=False, cancel_futures=True)
        self._stream.shutdown(wait=False, cancel_futures=True)

    def _in_time(self, answer: "Future[T]") -> T | None:
        try:
            return answer.result(timeout=self._patience.total_seconds())
        except TookTooLong:
            answer.cancel()  # so that questions to something hung do not pile up
            return None


def _given(ask: Callable[[], T]) -> T | None:
    try:
        return ask()
    except Unavailable:
        return None


def _answers(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except Unavailable:
        return False
    return True
