"""Accounts."""

import re

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.engine import translated
from ppcfetch.errors import NotFound, Refused
from ppcfetch.model.account import LONGEST_EMAIL, Account, User

_ADDRESS = re.compile(r"[^\s@\x00-\x1f\x7f]+@[^\s@.\x00-\x1f\x7f]+(?:\.[^\s@.\x00-\x1f\x7f]+)+")

_ADD = text("""
INSERT INTO users (email, password_hash, operator) VALUES (:email, :password_hash, :operator)
ON CONFLICT (email) DO NOTHING
RETURNING id, email, operator
""")

_BY_EMAIL = text("""
SELECT id, email, operator, password_hash FROM users WHERE email = :email
""")

_SET_PASSWORD = text("""
UPDATE users SET password_hash = :password_hash WHERE id = :id RETURNING id
""")

_END_SESSIONS = text("DELETE FROM sessions WHERE user_id = :id")


def normal_email(email: str) -> str:
    """Give the form in which an address is kept: lower case, nothing around it.

    Raises: Refused when it is no address.
    """
    plain = email.strip().lower()
    # The length first: nothing else may look at endless text.
    if len(plain) > LONGEST_EMAIL or not _ADDRESS.fullmatch(plain):
        raise Refused("That is not an e-mail address.")
    return plain


class Users:
    """Accounts in PostgreSQL; needs an engine that may write and see hashes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, email: str, password_hash: str, *, operator: bool = False) -> User:
        """Make an account. Raises: Refused when the address has one, or is none."""
        values = {
            "email": normal_email(email),
            "password_hash": password_hash,
            "operator": operator,
        }
        with translated(), self._engine.begin() as connection:
            row = connection.execute(_ADD, values).one_or_none()
        if row is None:
            raise Refused(f"There is an account for {values['email']} already.")
        return User(row.id, row.email, row.operator)

    def by_email(self, email: str) -> Account | None:
        """Give the account of an address, None when there is none or it is no address."""
        try:
            values = {"email": normal_email(email)}
        except Refused:
            return None
        with translated(), self._engine.connect() as connection:
            row = connection.execute(_BY_EMAIL, values).one_or_none()
        if row is None:
            return None
        return Account(User(row.id, row.email, row.operator), row.password_hash)

    def set_password(self, user_id: int, password_hash: str) -> None:
        """Keep a new hash and end every log-in of the user. Raises: NotFound."""
        values = {"id": user_id, "password_hash": password_hash}
        with translated(), self._engine.begin() as connection:
            if connection.execute(_SET_PASSWORD, values).one_or_none() is None:
                raise NotFound(f"there is no user {user_id}")
            connection.execute(_END_SESSIONS, values)
