"""Moments, lengths and places in words."""

from datetime import datetime, timedelta

from ppcfetch.model.whereabouts import StreamFacts

_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_TWO_DAYS = timedelta(days=2)


def moment(at: datetime) -> str:
    """Give a moment to the second."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def length(time: timedelta) -> str:
    """Give a length in its largest useful unit."""
    if time < 2 * _MINUTE:
        seconds = time.total_seconds()
        return f"{seconds:.1f} s" if seconds % 1 and seconds < 10 else f"{seconds:.0f} s"  # noqa: PLR2004 - two digits are enough
    if time < 2 * _HOUR:
        return f"{time / _MINUTE:.0f} min"
    if time < _TWO_DAYS:
        return f"{time / _HOUR:.0f} h"
    return f"{time.days} days"


def place_of(stream: StreamFacts | None) -> str:
    """Give where a job's message is."""
    if stream is None:
        return "unknown: Redis does not answer"
    message = stream.message
    if message is None:
        return "in no stream"
    if message.consumer is None:
        return f"waiting in the stream of {message.pool} (message {message.message_id})"
    return (
        f"message {message.message_id} of {message.pool} is in the hand of {message.consumer},"
        f" untouched for {length(message.idle)}, delivered {message.deliveries} times"
    )
