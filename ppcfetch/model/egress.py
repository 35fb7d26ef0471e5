"""The ways out to the archive, and the leave to use one of them once."""

from dataclasses import dataclass

DIRECT = "direct"
"""The name of the way out that uses no proxy."""


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave for one call to the archive, over one egress."""

    egress: str
