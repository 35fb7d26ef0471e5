"""The tables of what operators do, and of single values.

Whoever wants all tables imports `metadata` from here.
"""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Identity,
    Index,
    Table,
    Text,
    text,
)

from ppcfetch.adapters.database.schema import time_of_writing
from ppcfetch.adapters.database.schema_accounts import metadata

__all__ = ["audit", "facts", "metadata", "pauses", "turns"]

pauses = Table(
    "pauses",
    metadata,
    Column("pool", Text, primary_key=True),
    time_of_writing("paused_at"),
    Column("paused_by", Text, nullable=False),
    Column("reason", Text),
    CheckConstraint("pool IN ('interactive', 'bulk')", name="pool"),
)
"""One row for each pool that is paused now."""

audit = Table(
    "audit",
    metadata,
    Column("id", BigInteger, Identity(always=False), primary_key=True),
    time_of_writing("at"),
    Column("who", Text, nullable=False, comment="user of the operating system, or e-mail address"),
    Column("action", Text, nullable=False),
    Column(
        "target",
        Text,
        nullable=False,
        comment="such as: job 12, pool bulk, consumer host.bulk.1",
    ),
    Column("reason", Text),
    Index("audit_by_target", "target", text("id DESC")),
)
"""What operators did, to what, when and why; written with the change itself where it is a row."""

facts = Table(
    "facts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""Single values: `epoch`, which never changes once the first migration has drawn it."""

turns = Table(
    "turns",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False, comment="consumer name"),
    Column("incarnation", BigInteger, nullable=False),
    Column("expires_at", DateTime(timezone=True), nullable=False),
)
"""Roles that one process plays at a time, until an expiry by the database clock."""
