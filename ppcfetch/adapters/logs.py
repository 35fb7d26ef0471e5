"""Logs: one JSON line an event, times in UTC, nothing secret and nothing that breaks a line."""

import json
import logging
import re
import sys
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any, TextIO

import structlog

LONGEST_VALUE = 2_000
WARNING = logging.WARNING
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]*:[^/\s@]*(?=@)")

_ENCODER = json.JSONEncoder(ensure_ascii=True, default=repr)
"""Made once: a job writes two lines, and making it costs more than using it."""


def configure(
    *, stream: TextIO | None = None, level: int = logging.INFO, **context: object
) -> None:
    """Send every event of this process to the stream (standard error), with the context in each.

    Libraries that log through the standard library come out in the same form from WARNING on.
    """
    out = stream or sys.stderr
    complete = _completing(context)
    structlog.configure(
        processors=[complete, _line],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[complete],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _line,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(level, logging.WARNING))


def _completing(context: dict[str, object]) -> Any:
    """Give one step for all that an event needs: a chain of steps costs a job as much again."""

    def complete(
        logger: Any, method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        told = structlog.contextvars.merge_contextvars(logger, method, {**context, **event})
        told = structlog.stdlib.add_log_level(logger, method, told)
        told["ts"] = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        if "exc_info" in told:
            told = structlog.processors.format_exc_info(logger, method, told)
        for name, value in told.items():
            if isinstance(value, str) and (len(value) > LONGEST_VALUE or "://" in value):
                told[name] = _shown(value)
        return told

    return complete


def _line(_logger: object, _method: str, event: MutableMapping[str, Any]) -> str:
    """Give the event as one line of ASCII."""
    return _ENCODER.encode(event)


def _shown(value: str) -> str:
    """Cut a long value and take passwords out of addresses."""
    hidden = _CREDENTIALS.sub("***", value)
    return hidden if len(hidden) <= LONGEST_VALUE else f"{hidden[:LONGEST_VALUE]}…"
