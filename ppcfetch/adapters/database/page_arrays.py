"""The columns of an archive page as arrays in PostgreSQL's binary form.

psycopg writes lists as well, but chooses their type anew for each list: a prepared statement
would be prepared once more for every mixture of types, and an empty column has no type at all.
"""

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import psycopg
from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper, PyFormat
from psycopg.pq import Format

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_DAY = 86_400
_SECOND = 1_000_000
_HEAD = struct.Struct("!iIIii")
"""Dimensions, whether there are nulls, the element's type, how many elements, the first's index."""
_LENGTH = struct.Struct("!i")
_INT2 = struct.Struct("!ih")
_INT4 = struct.Struct("!ii")
_INT8 = struct.Struct("!iq")
_NULL = _LENGTH.pack(-1)


@dataclass(frozen=True, slots=True)
class Array:
    """A column: its type as an array and its bytes."""

    oid: int
    data: bytes


def array(kind: str, values: Sequence[Any]) -> Array:
    """Give values of one type, any of them None, as a value to bind.

    Shape: kind is text, int2, int4 or timestamptz.
    """
    element, oid, encode = _KINDS[kind]
    return Array(oid, _HEAD.pack(1, 1, element, len(values), 1) + b"".join(encode(values)))


def teach(connection: psycopg.Connection[Any]) -> None:
    """Let a connection bind arrays; doing so again changes nothing."""
    connection.adapters.register_dumper(Array, _ArrayDumper)


class _ArrayDumper(Dumper):
    """Binds an array under its own type."""

    format = Format.BINARY

    def __init__(self, cls: type, context: AdaptContext | None = None, oid: int = 0) -> None:
        super().__init__(cls, context)
        self.oid = oid

    def get_key(self, obj: Array, format: PyFormat) -> tuple[type, int]:  # type: ignore[override]  # noqa: A002, ARG002 - psycopg's names
        return (self.cls, obj.oid)

    def upgrade(self, obj: Array, format: PyFormat) -> Self:  # noqa: A002, ARG002 - psycopg's names
        return type(self)(self.cls, oid=obj.oid)

    def dump(self, obj: Array) -> bytes:
        return obj.data


def _texts(values: Iterable[str | None]) -> Iterable[bytes]:
    parts: list[bytes] = []
    for value in values:
        if value is None:
            parts.append(_NULL)
        else:
            data = value.encode()
            parts += (_LENGTH.pack(len(data)), data)
    return parts


def _small(values: Iterable[int | None]) -> Iterable[bytes]:
    return [_NULL if value is None else _INT2.pack(2, value) for value in values]


def _whole(values: Iterable[int | None]) -> Iterable[bytes]:
    return [_NULL if value is None else _INT4.pack(4, value) for value in values]


def _moments(values: Iterable[datetime | None]) -> Iterable[bytes]:
    return [_NULL if value is None else _INT8.pack(8, _microseconds(value)) for value in values]


def _microseconds(moment: datetime) -> int:
    since = moment - _EPOCH
    return (since.days * _DAY + since.seconds) * _SECOND + since.microseconds


_Encode = Callable[[Iterable[Any]], Iterable[bytes]]

_KINDS: dict[str, tuple[int, int, _Encode]] = {
    "text": (25, 1009, _texts),
    "int2": (21, 1005, _small),
    "int4": (23, 1007, _whole),
    "timestamptz": (1184, 1185, _moments),
}
"""Of each type the element's number, the array's, and how its values are written.

Source: PostgreSQL, pg_type.dat; these numbers never change.
"""
