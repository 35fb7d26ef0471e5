"""Log-ins: a token that only the browser has, known here by its hash."""

import hashlib
import secrets
from datetime import timedelta

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.engine import translated
from ppcfetch.model.account import User

TOKEN_BYTES = 32

_BEGIN = text("""
INSERT INTO sessions (token_hash, user_id, expires_at)
VALUES (:token_hash, :user, clock_timestamp() + CAST(:length AS interval))
""")

_USER_OF = text("""
SELECT users.id, users.email, users.operator
FROM sessions JOIN users ON users.id = sessions.user_id
WHERE sessions.token_hash = :token_hash AND sessions.expires_at > clock_timestamp()
""")

_END = text("DELETE FROM sessions WHERE token_hash = :token_hash")

_END_OTHERS = text("DELETE FROM sessions WHERE user_id = :user AND token_hash <> :keep")


def new_token() -> str:
    """Give 256 random bits as text for a cookie; nothing can be learned from an older one."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def hash_token(token: str) -> bytes:
    """Give what is kept of a token; who reads the table cannot sign in with it.

    The token is as random as the hash is long, so that a fast hash is enough.
    """
    return hashlib.sha256(token.encode()).digest()


class Sessions:
    """Log-ins in PostgreSQL; looking one up uses the engine that cannot write.

    Shape: a log-in ends at the age it was given, by the database clock; looking does not
    lengthen it.
    """

    def __init__(self, reader: Engine, writer: Engine) -> None:
        self._reader = reader
        self._writer = writer

    def begin(self, token_hash: bytes, user_id: int, length: timedelta) -> None:
        """Keep a log-in until it is that old."""
        values = {"token_hash": token_hash, "user": user_id, "length": length}
        with translated(), self._writer.begin() as connection:
            connection.execute(_BEGIN, values)

    def user_of(self, token_hash: bytes) -> User | None:
        """Give whose unexpired log-in it is; reads only."""
        with translated(), self._reader.connect() as connection:
            row = connection.execute(_USER_OF, {"token_hash": token_hash}).one_or_none()
        return None if row is None else User(row.id, row.email, row.operator)

    def end(self, token_hash: bytes) -> None:
        """Forget a log-in; nothing happens when there is none."""
        with translated(), self._writer.begin() as connection:
            connection.execute(_END, {"token_hash": token_hash})

    def end_others(self, user_id: int, keep: bytes) -> int:
        """Forget a user's other log-ins; gives how many there were."""
        with translated(), self._writer.begin() as connection:
            gone = connection.execute(_END_OTHERS, {"user": user_id, "keep": keep})
            return gone.rowcount

    def end_all(self, user_id: int) -> int:
        """Forget all of a user's log-ins; gives how many there were."""
        return self.end_others(user_id, keep=b"")
