"""What a message says: ``{"v":1,"job":<id>}`` in its only field, and nothing that matters."""

import json
import re
from collections.abc import Sequence

from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Token

FIELD = b"d"
VERSION = 1
LONGEST_BYTES = 1024
LARGEST_ID = 2**63 - 1
_OURS = re.compile(rb'\{"v":1,"job":([1-9][0-9]{0,17})\}')
"""What `encode` writes, read without parsing: nearly every message there is."""


def encode(job_id: int) -> bytes:
    """The payload that rings for a job."""
    return json.dumps({"v": VERSION, "job": job_id}, separators=(",", ":")).encode()


def decode(pool: Pool, token: Token, fields: Sequence[bytes]) -> Delivery:
    """A delivery out of an entry's fields and values; never fails, whatever they hold."""
    raw = fields[1] if len(fields) == 2 and fields[0] == FIELD else b" ".join(fields)  # noqa: PLR2004
    job_id, version = _read(raw)
    return Delivery(pool=pool, token=token, job_id=job_id, version=version, raw=raw)


def _read(raw: bytes) -> tuple[int | None, int | None]:
    ours = _OURS.fullmatch(raw)
    return (int(ours[1]), VERSION) if ours else _parsed(raw)


def _parsed(raw: bytes) -> tuple[int | None, int | None]:
    if len(raw) > LONGEST_BYTES:
        return None, None
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError):
        return None, None
    version = _number(said.get("v")) if isinstance(said, dict) else None
    if version is None or version != VERSION:
        return None, version
    job_id = _number(said.get("job"))
    return job_id, VERSION if job_id is not None else None


def _number(value: object) -> int | None:
    # True is an int to Python, but not an id.
    if type(value) is int and 0 < value <= LARGEST_ID:
        return value
    return None
