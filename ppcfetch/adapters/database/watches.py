"""Watched domains: a person's list, and those that the schedule should ask for."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.engine import translated
from ppcfetch.errors import Refused
from ppcfetch.model.domain import DomainName
from ppcfetch.model.watch import WatchedDomain, WatchFacts

MOST_WATCHES = 10_000
"""Domains that one person may watch."""

_ADD = text("""
INSERT INTO watches (user_id, domain)
SELECT :user, :domain WHERE (SELECT count(*) FROM watches WHERE user_id = :user) < :most
ON CONFLICT (user_id, domain) DO NOTHING
""")

_HAS = text("SELECT true FROM watches WHERE user_id = :user AND domain = :domain")

_REMOVE = text("DELETE FROM watches WHERE user_id = :user AND domain = :domain")

_LIST = text("""
SELECT watches.domain, domains.checked_at, coalesce(domains.ads, 0) AS ads,
    EXISTS (
        SELECT FROM fetches WHERE fetches.domain = watches.domain AND fetches.state = 'active'
    ) AS active
FROM watches LEFT JOIN domains ON domains.domain = watches.domain
WHERE watches.user_id = :user
ORDER BY watches.domain LIMIT :count
""")

# A domain's own moment: its name and the fetch before decide it, so that every round agrees and
# two domains that were read together drift apart.
_COMES_DUE = """
SELECT watched.domain, coalesce(domains.attempted_at, watched.since)
    + CAST(:every AS interval) * (
        CASE WHEN domains.attempted_at IS NULL THEN 0 ELSE 1 END
        + 0.25 * (abs(hashtextextended(watched.domain, coalesce(domains.complete_fetch_id, 0))
            % 1000) / 1000.0)
    ) AS due_at
FROM (SELECT domain, min(created_at) AS since FROM watches GROUP BY domain) watched
LEFT JOIN domains ON domains.domain = watched.domain
WHERE NOT EXISTS (
    SELECT FROM fetches WHERE fetches.domain = watched.domain AND fetches.state = 'active'
)
"""

_DUE = text(f"""
SELECT domain FROM ({_COMES_DUE}) coming
WHERE due_at <= clock_timestamp() ORDER BY due_at, domain LIMIT :count
""")  # noqa: S608 -- our own text

_FACTS = text(f"""
SELECT (SELECT count(DISTINCT domain) FROM watches) AS watched,
    (SELECT count(*) FROM ({_COMES_DUE}) coming WHERE due_at <= clock_timestamp()) AS due
""")  # noqa: S608 -- our own text


class PostgresWatches:
    """The port `ppcfetch.ports.Watched`, and the lists of people.

    Shape: reading may be an engine that cannot write. Raises: DatabaseUnavailable.
    """

    def __init__(self, reading: Engine, writing: Engine) -> None:
        self._reading = reading
        self._writing = writing

    def add(self, user_id: int, domain: DomainName) -> None:
        """Put a domain on a person's list. Raises: Refused when the list is full."""
        asked = {"user": user_id, "domain": domain.name, "most": MOST_WATCHES}
        with translated(), self._writing.begin() as connection:
            added = connection.execute(_ADD, asked).rowcount
            if not added and connection.scalar(_HAS, asked) is None:
                raise Refused(f"You watch {MOST_WATCHES:,} domains, and that is the most.")

    def remove(self, user_id: int, domain: DomainName) -> None:
        """Take a domain off a person's list."""
        with translated(), self._writing.begin() as connection:
            connection.execute(_REMOVE, {"user": user_id, "domain": domain.name})

    def has(self, user_id: int, domain: DomainName) -> bool:
        """Tell whether a domain is on a person's list."""
        with translated(), self._reading.begin() as connection:
            return bool(connection.scalar(_HAS, {"user": user_id, "domain": domain.name}))

    def of(self, user_id: int, count: int) -> Sequence[WatchedDomain]:
        """Give the first so many of a person's list, by name."""
        with translated(), self._reading.begin() as connection:
            rows = connection.execute(_LIST, {"user": user_id, "count": count}).all()
        return [
            WatchedDomain(DomainName(row.domain), row.checked_at, row.ads, is_active=row.active)
            for row in rows
        ]

    def due(self, every: timedelta, count: int) -> Sequence[DomainName]:
        """Give watched domains whose own moment has come, longest due first."""
        with translated(), self._reading.begin() as connection:
            rows = connection.scalars(_DUE, {"every": every, "count": count}).all()
        return [DomainName(name) for name in rows]

    def facts(self, every: timedelta | None) -> WatchFacts:
        """Give how many domains are watched, and how many of them are due."""
        asked = {"every": every or timedelta(0)}
        with translated(), self._reading.begin() as connection:
            row = connection.execute(_FACTS, asked).one()
        return WatchFacts(row.watched, row.due if every else None)
