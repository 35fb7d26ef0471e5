"""The dead letters, for operators; the row of a job is what decides about it."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from redis import Redis

from ppcfetch.adapters.redis.connections import command, translated
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.errors import NotFound
from ppcfetch.model.job import Pool

LETTERS_A_STEP = 500
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One message that was given up, and why.

    Shape: id names the letter, message_id the message that it was; job_id is None when the
    message could not be read; at is by the clock of Redis.
    """

    id: str
    job_id: int | None
    raw: bytes
    reason: str
    pool: Pool
    message_id: str
    deliveries: int
    at: datetime


class RedisDeadLetters:
    """The stream of dead letters on one client."""

    def __init__(self, client: Redis, keys: Keys) -> None:
        self._client = client
        self._key = keys.dead

    def newest(self, *, before: str | None = None, count: int = 50) -> list[DeadLetter]:
        """Give letters older than the letter `before`, newest first; empty at the end."""
        if before is not None and not _is_id(before):
            return []
        start = "+" if before is None else f"({before}"
        return [_letter(*entry) for entry in self._entries("XREVRANGE", start, "-", count)]

    def get(self, letter_id: str) -> DeadLetter:
        """Give one letter. Raises: NotFound."""
        entries = self._entries("XRANGE", letter_id, letter_id, 1) if _is_id(letter_id) else []
        if not entries:
            raise NotFound(f"there is no dead letter {letter_id}")
        return _letter(*entries[0])

    def of_job(self, job_id: int) -> list[DeadLetter]:
        """Give the letters of a job, oldest first."""
        return [letter for letter in self._all() if letter.job_id == job_id]

    def unreadable(self) -> list[DeadLetter]:
        """Give the letters that name no job, oldest first: nothing but they tells of these."""
        return [letter for letter in self._all() if letter.job_id is None]

    def forget(self, job_ids: Collection[int]) -> int:
        """Delete the letters of these jobs; gives how many."""
        found = [letter.id for letter in self._all() if letter.job_id in job_ids]
        if not found:
            return 0
        with translated():
            return int(command(self._client, "XDEL", self._key, *found))

    def discard(self, letter_id: str) -> bool:
        """Delete one letter; False when there is none."""
        if not _is_id(letter_id):
            return False
        with translated():
            return bool(command(self._client, "XDEL", self._key, letter_id))

    def count(self) -> int:
        """Count the letters."""
        with translated():
            return int(command(self._client, "XLEN", self._key))

    def _all(self) -> Iterator[DeadLetter]:
        """Walk through all letters; their number is bounded when they are written."""
        start = "-"
        while entries := self._entries("XRANGE", start, "+", LETTERS_A_STEP):
            yield from (_letter(*entry) for entry in entries)
            start = f"({entries[-1][0].decode()}"

    def _entries(self, word: str, start: str, end: str, count: int) -> list[Any]:
        with translated():
            return list(command(self._client, word, self._key, start, end, "COUNT", count))


def _is_id(text: str) -> bool:
    """Tell whether it can be an id at all; the server would call anything else an error."""
    return re.fullmatch(r"[0-9]{1,19}-[0-9]{1,19}", text) is not None


def _letter(letter_id: bytes, fields: Mapping[bytes, bytes]) -> DeadLetter:
    return DeadLetter(
        id=letter_id.decode(),
        job_id=int(fields[b"job"]) if fields[b"job"] else None,
        raw=fields[b"raw"],
        reason=fields[b"reason"].decode(errors="replace"),
        pool=Pool(fields[b"pool"].decode()),
        message_id=fields[b"message"].decode(),
        deliveries=int(fields[b"deliveries"]),
        at=EPOCH + timedelta(milliseconds=int(fields[b"at_ms"])),
    )
