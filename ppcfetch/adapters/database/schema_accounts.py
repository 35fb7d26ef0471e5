"""The tables of those who sign in: who they are, what they follow and what they watch."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    Table,
    Text,
    text,
)

from ppcfetch.adapters.database.schema import Key, metadata, time_of_writing

__all__ = ["followers", "metadata", "sessions", "users", "watches"]

users = Table(
    "users",
    metadata,
    Column("id", BigInteger, Identity(always=False), primary_key=True),
    Column("email", Text, nullable=False, unique=True, comment="lower case"),
    Column("password_hash", Text, nullable=False),
    Column("operator", Boolean, nullable=False, server_default=text("false")),
    time_of_writing("created_at"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True, comment="SHA-256 of the cookie's token"),
    Column("user_id", BigInteger, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    time_of_writing("created_at"),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Index("sessions_by_user", "user_id"),
    Index("sessions_by_expiry", "expires_at"),
)

followers = Table(
    "followers",
    metadata,
    Column("fetch_id", BigInteger, ForeignKey("fetches.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", BigInteger, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    time_of_writing("joined_at"),
    Index("followers_by_user", "user_id"),
)
"""Who asked for a fetch or joined it: it goes on while one of them is left."""

watches = Table(
    "watches",
    metadata,
    Column("user_id", BigInteger, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("domain", Key, primary_key=True),
    time_of_writing("created_at"),
    Index("watches_by_domain", "domain"),
)
"""Domains that somebody wants to be kept fresh."""
