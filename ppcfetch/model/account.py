"""Who may ask for fetches."""

from dataclasses import dataclass, field

SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 256
LONGEST_EMAIL = 254


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who can sign in; an operator may refresh, stop and retry anything."""

    id: int
    email: str
    operator: bool = False


@dataclass(frozen=True, slots=True)
class Account:
    """A user with what a log-in is checked against."""

    user: User
    password_hash: str = field(repr=False)
