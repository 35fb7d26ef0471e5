"""Asking a process to stop, whatever its main thread is doing."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from tests.waiting import wait_until
from workers.signals import on_signals


@pytest.fixture(autouse=True)
def handler_as_before() -> Iterator[None]:
    """Leave the test process as it was."""
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_a_signal_is_heard_while_the_main_thread_holds_the_lock_that_is_needed() -> None:
    """A handler that took the lock itself would wait for the code that it interrupts."""
    lock, stopping = threading.Lock(), threading.Event()

    def stop() -> None:
        with lock:
            stopping.set()

    on_signals([signal.SIGUSR1], stop)
    with lock:
        os.kill(os.getpid(), signal.SIGUSR1)
        heard_early = stopping.is_set()

    wait_until(stopping.is_set, describe="the signal is heard")
    assert not heard_early


def test_each_signal_is_told() -> None:
    """The second one means something else than the first."""
    told: list[str] = []

    on_signals([signal.SIGUSR1], lambda: told.append(threading.current_thread().name))
    os.kill(os.getpid(), signal.SIGUSR1)
    wait_until(lambda: len(told) == 1, describe="the first one is told")
    os.kill(os.getpid(), signal.SIGUSR1)
    wait_until(lambda: len(told) == 2, describe="the second one is told")

    assert told == ["signals", "signals"]
