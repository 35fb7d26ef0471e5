"""The audit: what operators did, written with the change itself where it is a row."""

from collections.abc import Sequence

from sqlalchemy import Connection, Engine, text

from ppcfetch.adapters.database.engine import translated
from ppcfetch.model.operation import Action, Deed, Noted

_NOTE = text("""
INSERT INTO audit (at, who, action, target, reason)
VALUES (clock_timestamp(), :who, :action, :target, :reason)
""")

_ABOUT = text("""
SELECT at, who, action, target, reason FROM audit WHERE target = :target
ORDER BY id DESC LIMIT :count
""")


def note(connection: Connection, deed: Deed, target: str) -> None:
    """Keep a deed in the transaction of the change that it made."""
    connection.execute(
        _NOTE,
        {"who": deed.who, "action": str(deed.action), "target": target, "reason": deed.reason},
    )


class PostgresAudit:
    """The port `ppcfetch.ports.Audit` on PostgreSQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def note(self, deed: Deed, target: str) -> None:
        """Keep a deed that changed something outside of the database."""
        with translated(), self._engine.begin() as connection:
            note(connection, deed, target)

    def about(self, target: str, *, count: int = 20) -> Sequence[Noted]:
        """Give the deeds done to a target, newest first."""
        with translated(), self._engine.begin() as connection:
            rows = connection.execute(_ABOUT, {"target": target, "count": count}).all()
        return [
            Noted(row.at, Deed(row.who, Action(row.action), row.reason), row.target) for row in rows
        ]
