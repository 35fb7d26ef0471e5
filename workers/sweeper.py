"""Sweep every so often, one worker at a time."""

import threading
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta

import structlog

from ppcfetch.errors import PpcFetchError
from ppcfetch.ports import WorkerPorts
from ppcfetch.usecases.sweep import rebuild_after_loss, sweep

TURN_IN_ROUNDS = 4


class Sweeper:
    """The sweeping of one process; an error ends the round, never the sweeper."""

    def __init__(self, parts: WorkerPorts, *, every: timedelta) -> None:
        """Keep the ports. Units: every is the time between rounds, jittered by a tenth."""
        self._holder = parts.holder
        self._due = parts.due
        self._doorbell = parts.doorbell
        self._census = parts.census
        self._schedule = parts.schedule
        self._every = every
        self._clock = parts.clock

    def run(self, stopping: threading.Event) -> None:
        """Sweep until asked to stop; the body of a daemon thread."""
        self._quietly(self._look_for_loss)
        while not stopping.wait(self._every.total_seconds() * (0.9 + 0.2 * self._clock.random())):
            self._quietly(self._round)
            self._quietly(self._look_for_loss)

    def _round(self) -> None:
        report = sweep(
            self._holder,
            due=self._due,
            doorbell=self._doorbell,
            census=self._census,
            turn=self._every * TURN_IN_ROUNDS,
            schedule=self._schedule,
        )
        did = {name: value for name, value in asdict(report).items() if value} if report else {}
        if did:
            structlog.get_logger().info("sweep.done", **did)

    def _look_for_loss(self) -> None:
        """Rebuild at once when Redis lost its data: this needs no turn."""
        if rebuild_after_loss(due=self._due, doorbell=self._doorbell, census=self._census):
            structlog.get_logger().warning("stream.rebuilt", consumer=self._holder.consumer)

    def _quietly(self, step: Callable[[], None]) -> None:
        try:
            step()
        except PpcFetchError as error:
            structlog.get_logger().warning("sweep.failed", error=str(error))
        except Exception:  # noqa: BLE001 - a fault in sweeping must not end a worker that runs jobs
            structlog.get_logger().exception("sweep.failed")
