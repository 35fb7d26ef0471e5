"""Followers of a fetch: noted when they ask or join, and what their leaving ends."""

from collections.abc import Mapping

from sqlalchemy import Connection, Engine, text

from ppcfetch.adapters.database.cancelling import cancel_fetch
from ppcfetch.adapters.database.engine import translated
from ppcfetch.model.fetch import FetchReason, FetchState, asker_of
from ppcfetch.model.following import Company, Leaving, goes_on_without

# Joining and leaving the same fetch wait for each other, so that nobody joins what is just being
# ended. It comes before any row is locked, so the rule on the order of locks is not touched.
_ONE_BY_ONE = text("SELECT pg_advisory_xact_lock(hashtextextended('ppcfetch.follow', :fetch))")

_IS_ACTIVE = text("SELECT true FROM fetches WHERE id = :fetch AND state = 'active'")

# The asker may be somebody whose account is gone: then nobody is noted.
_FOLLOW = text("""
INSERT INTO followers (fetch_id, user_id, joined_at)
SELECT :fetch, id, clock_timestamp() FROM users WHERE id = :user
ON CONFLICT (fetch_id, user_id) DO NOTHING
""")

_LOOK = text("""
SELECT state, reason, asked_by,
    (SELECT count(*) FROM followers WHERE fetch_id = fetches.id AND user_id <> :user) AS others,
    coalesce(asked_by = :user, false) OR EXISTS (
        SELECT FROM followers WHERE fetch_id = fetches.id AND user_id = :user
    ) AS follows
FROM fetches WHERE id = :fetch
""")

_UNFOLLOW = text("DELETE FROM followers WHERE fetch_id = :fetch AND user_id = :user")

_HEIR = text("""
SELECT user_id FROM followers WHERE fetch_id = :fetch ORDER BY joined_at, user_id LIMIT 1
""")

# Jobs before their fetch, in the order of everybody.
_HAND_ON_JOBS = text("""
WITH mine AS (
    SELECT id FROM jobs
    WHERE fetch_id = :fetch AND asker = :user AND state IN ('queued', 'running')
    ORDER BY id
    FOR UPDATE
)
UPDATE jobs SET asker = :line FROM mine WHERE jobs.id = mine.id
""")

_HAND_ON = text("UPDATE fetches SET asked_by = :heir WHERE id = :fetch AND asked_by = :user")


def may_join(connection: Connection, fetch_id: int) -> bool:
    """Keep others from leaving the fetch until the transaction ends; False when it has ended."""
    connection.execute(_ONE_BY_ONE, {"fetch": fetch_id})
    return connection.scalar(_IS_ACTIVE, {"fetch": fetch_id}) is not None


def follow(connection: Connection, fetch_id: int, user_id: int | None) -> None:
    """Note that somebody waits for a fetch, None being nobody in particular.

    The key's check locks the fetch, so whoever locks its jobs has done so before.
    """
    if user_id is not None:
        connection.execute(_FOLLOW, {"fetch": fetch_id, "user": user_id})


class PostgresFollowers:
    """The port `ppcfetch.ports.Followers` on PostgreSQL.

    Shape: reading may be an engine that cannot write.
    """

    def __init__(self, reading: Engine, writing: Engine) -> None:
        self._reading = reading
        self._writing = writing

    def company(self, fetch_id: int, user_id: int) -> Company:
        """Tell whether a person follows the fetch, and whether it would go on without him."""
        with translated(), self._reading.begin() as connection:
            row = connection.execute(_LOOK, {"fetch": fetch_id, "user": user_id}).one_or_none()
        if row is None or not row.follows:
            return Company()
        goes_on = goes_on_without(FetchReason(row.reason), row.others)
        return Company(follows=True, goes_on=goes_on)

    def leave(self, fetch_id: int, user_id: int) -> Leaving:
        """Leave the fetch to the others, or end it when there is nobody else."""
        asked = {"fetch": fetch_id, "user": user_id}
        with translated(), self._writing.begin() as connection:
            connection.execute(_ONE_BY_ONE, {"fetch": fetch_id})
            row = connection.execute(_LOOK, asked).one_or_none()
            if row is None or not row.follows:
                return Leaving.STRANGER
            if row.state != FetchState.ACTIVE:
                return Leaving.OVER
            if goes_on_without(FetchReason(row.reason), row.others):
                _hand_on(connection, asked, FetchReason(row.reason))
                return Leaving.LEFT
            return Leaving.STOPPED if cancel_fetch(connection, fetch_id) else Leaving.OVER


def _hand_on(connection: Connection, asked: Mapping[str, int], reason: FetchReason) -> None:
    """Leave the fetch, and the place of its jobs in line, to whoever joined first."""
    connection.execute(_UNFOLLOW, asked)
    heir = connection.scalar(_HEIR, asked)
    line = asker_of(reason, heir)
    connection.execute(_HAND_ON_JOBS, {**asked, "line": line})
    connection.execute(_HAND_ON, {**asked, "heir": heir})
