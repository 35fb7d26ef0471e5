"""Waiting across processes: for a fact, with a limit, and never for a length of time."""

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")

_POLL_SECONDS = 0.02


def wait_until(predicate: Callable[[], Value], *, describe: str, timeout: float = 15.0) -> Value:
    """The first true value that the predicate gives.

    Raises: AssertionError with the description and the last value when the limit, in seconds,
    has passed. What the predicate raises is passed on at once.
    """
    deadline = time.monotonic() + timeout
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s until {describe}; last value: {value!r}")
        time.sleep(_POLL_SECONDS)
