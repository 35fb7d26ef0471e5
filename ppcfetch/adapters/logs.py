"""Logs: one JSON line an event, times in UTC, nothing secret and nothing that breaks a line."""

import json
import logging
import re
import sys
from collections.abc import MutableMapping
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
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
        _with(context),
        structlog.processors.format_exc_info,
        _harmless,
    ]
    structlog.configure(
        processors=[*shared, _line],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _line,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(level, logging.WARNING))


def _with(context: dict[str, object]) -> Any:
    def add(
        _logger: object, _method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        return {**context, **event}

    return add


def _harmless(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Cut long values and take passwords out of addresses."""
    return {name: _shown(value) for name, value in event.items()}


def _line(_logger: object, _method: str, event: MutableMapping[str, Any]) -> str:
    """Give the event as one line of ASCII."""
    return _ENCODER.encode(event)


def _shown(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    hidden = _CREDENTIALS.sub("***", value) if "://" in value else value
    return hidden if len(hidden) <= LONGEST_VALUE else f"{hidden[:LONGEST_VALUE]}…"
