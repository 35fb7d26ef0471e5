"""Passwords: checked before they are taken, and kept as argon2id hashes.

Source: OWASP Password Storage Cheat Sheet and ASVS 5.0, items 6.2 and 11.4.2: argon2id with 19 MiB,
two passes, one lane; any characters, no rules of composition, nothing cut off.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from ppcfetch.adapters.accounts.common_passwords import is_common
from ppcfetch.errors import Refused
from ppcfetch.model.account import LONGEST_PASSWORD, SHORTEST_PASSWORD

MEMORY_KIB = 19 * 1024
PASSES = 2
LANES = 1

AT_ONCE = 2
"""Hashes at a time in a process: each takes 19 MiB, so their number is what an attack costs us."""

_PATIENCE = timedelta(seconds=5)


class Passwords:
    """Hashing and checking, at most so many at once; the others wait, but not for ever.

    Raises: Refused from `hash` and `verify` when too many are at it: try again.
    """

    def __init__(self, *, at_once: int = AT_ONCE, patience: timedelta = _PATIENCE) -> None:
        self._hasher = PasswordHasher(time_cost=PASSES, memory_cost=MEMORY_KIB, parallelism=LANES)
        self._seats = BoundedSemaphore(at_once)
        self._patience = patience
        # Compared with when there is no account, so that the time tells nobody.
        self._nobodys = self._hasher.hash("the password of nobody")

    def check(self, password: str) -> None:
        """Accept a password that somebody may choose. Raises: Refused, saying what is wrong."""
        if len(password) < SHORTEST_PASSWORD:
            raise Refused(f"A password needs at least {SHORTEST_PASSWORD} characters.")
        if len(password) > LONGEST_PASSWORD:
            raise Refused(f"A password can have at most {LONGEST_PASSWORD} characters.")
        if is_common(password):
            raise Refused("That password is one of the first that anybody would try.")

    def hash(self, password: str) -> str:
        """Give what may be kept of a password: salted, different each time."""
        with self._seat():
            return self._hasher.hash(password)

    def verify(self, password_hash: str | None, password: str) -> bool:
        """Tell whether it is the password; None takes as long and is never right."""
        # An over-long one cannot be right: it would not have been taken.
        given = password[: LONGEST_PASSWORD + 1]
        with self._seat():
            try:
                self._hasher.verify(password_hash or self._nobodys, given)
            except (VerificationError, InvalidHashError):
                return False
        return password_hash is not None

    def is_outdated(self, password_hash: str) -> bool:
        """Tell whether the hash was made with other numbers than today's."""
        try:
            return self._hasher.check_needs_rehash(password_hash)
        except InvalidHashError:
            return True

    @contextmanager
    def _seat(self) -> Iterator[None]:
        if not self._seats.acquire(timeout=self._patience.total_seconds()):
            raise Refused("Too many people are signing in right now; try again in a moment.")
        try:
            yield
        finally:
            self._seats.release()
