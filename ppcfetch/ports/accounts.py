"""Accounts: who can sign in."""

from typing import Protocol

from ppcfetch.model.account import User


class NewUsers(Protocol):
    """Where accounts are kept."""

    def add(self, email: str, password_hash: str, *, operator: bool = False) -> User:
        """Make an account. Raises: Refused when the address has one or is none."""
        ...


class PasswordRules(Protocol):
    """What a password must be like, and what may be kept of it."""

    def check(self, password: str) -> None:
        """Return when the password will do. Raises: Refused, saying what is missing."""
        ...

    def hash(self, password: str) -> str:
        """Give what may be kept. Raises: Refused when too many are at it: try again."""
        ...
