"""Clients of one server, each with its own connections and without hidden retries.

A client that repeats a command by itself doubles every step that is not idempotent, and a
socket timeout below the blocking time turns each quiet read into an error.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from ppcfetch.errors import ConfigurationError, StreamUnavailable

ANSWER = timedelta(seconds=5)
MARGIN = timedelta(seconds=3)
HEALTH_CHECK_SECONDS = 30
LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Connections:
    """One client for the blocking read, one for renewals and one for the rest.

    A renewal must never wait for a connection that a handler or the reader has in use.
    """

    reading: Redis
    renewing: Redis
    rest: Redis

    def close(self) -> None:
        """Close every connection."""
        for client in (self.reading, self.renewing, self.rest):
            client.close()


def connect(url: str, *, block: timedelta, answer: timedelta = ANSWER) -> Connections:
    """Make the clients; nothing is sent before the first command.

    Units: block is the longest blocking read, answer how long any other reply may take.
    Raises: ConfigurationError when the address cannot be read.
    """
    margin = min(MARGIN, answer)
    return Connections(
        reading=_client(url, answer=max(answer, block + margin), connecting=answer),
        renewing=_client(url, answer=answer, connecting=answer),
        rest=_client(url, answer=answer, connecting=answer),
    )


@contextmanager
def translated() -> Iterator[None]:
    """Turn every error of the driver or the server into StreamUnavailable."""
    try:
        yield
    except RedisTimeoutError as exc:
        raise StreamUnavailable("Redis did not answer in time") from exc
    except RedisConnectionError as exc:
        raise StreamUnavailable(f"Redis cannot be reached: {_short(exc)}") from exc
    except RedisError as exc:
        raise StreamUnavailable(f"Redis refused: {_short(exc)}") from exc


def command(client: Redis, *words: str | int) -> Any:
    """The reply to one command; raises the driver's errors, so call it inside `translated`."""
    return client.execute_command(*words)  # type: ignore[no-untyped-call]


def _client(url: str, *, answer: timedelta, connecting: timedelta) -> Redis:
    try:
        return Redis.from_url(
            url,
            # RESP2 on purpose: replies have one shape on all servers, and the client sends no
            # commands of its own about maintenance or caching.
            protocol=2,
            decode_responses=False,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=answer.total_seconds(),
            socket_connect_timeout=connecting.total_seconds(),
            health_check_interval=HEALTH_CHECK_SECONDS,
        )
    except ValueError:
        # The driver's text may quote the address, and with it the password.
        raise ConfigurationError(
            "the Redis address cannot be read: use redis://, rediss:// or unix://"
        ) from None


def _short(error: Exception) -> str:
    """The driver's own words; they name host and port but never a user or a password."""
    return str(error)[:LONGEST_TEXT]
