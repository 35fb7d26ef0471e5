"""Ask for many domains in one transaction, by the rules of `asking`."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, text

from ppcfetch.adapters.database.admission import admit
from ppcfetch.adapters.database.asking import POOLS
from ppcfetch.adapters.database.engine import translated
from ppcfetch.model.admission import Admission
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import asker_of
from ppcfetch.model.job import JobKind
from ppcfetch.ports import Answered, Wish

_ADD_DOMAINS = text("""
INSERT INTO domains (domain)
SELECT unnest(CAST(:domains AS text[])) AS domain ORDER BY domain
ON CONFLICT (domain) DO NOTHING
""")

# Active ones first: a domain that is fetched at this moment is not fresh, whatever its marks say.
# Each domain is looked up by itself (OFFSET 0): a list grows the tables while it is read, and a
# plan that reads them whole costs each batch more than the one before.
_STATES = text("""
SELECT asked.domain, active.id IS NOT NULL AS active,
    coalesce(known.checked_at > clock_timestamp() - CAST(:window AS interval), false) AS fresh
FROM unnest(CAST(:domains AS text[])) AS asked (domain)
LEFT JOIN LATERAL (
    SELECT fetches.id FROM fetches
    WHERE fetches.domain = asked.domain AND fetches.state = 'active'
    OFFSET 0
) active ON true
LEFT JOIN LATERAL (
    SELECT domains.checked_at FROM domains WHERE domains.domain = asked.domain
    OFFSET 0
) known ON true
""")

# Both tables in one statement. Who asks for the same domain at this moment wins: `added` then
# lacks it, and no job is made.
_ADD = text("""
WITH wanted AS (
    SELECT domains.domain,
        CASE WHEN :full OR domains.mark IS NULL OR domains.walked_at IS NULL
            OR clock_timestamp() - domains.walked_at >= CAST(:full_every AS interval)
            THEN 'full' ELSE 'refresh' END AS kind,
        domains.mark - CAST(:overlap AS interval) AS until
    FROM unnest(CAST(:domains AS text[])) AS asked (domain)
    CROSS JOIN LATERAL (
        SELECT * FROM domains WHERE domains.domain = asked.domain OFFSET 0
    ) domains
), added AS (
    INSERT INTO fetches (domain, reason, asked_at, kind, until)
    SELECT domain, :reason, clock_timestamp(), kind,
        CASE kind WHEN 'refresh' THEN until END
    FROM wanted ORDER BY domain
    ON CONFLICT (domain) WHERE state = 'active' DO NOTHING
    RETURNING id, domain, until
)
INSERT INTO jobs (fetch_id, kind, pool, domain, until, asker, admitted, created_at, due_at)
SELECT id, :kind, :pool, domain, until, :asker, false, clock_timestamp(), clock_timestamp()
FROM added ORDER BY id
""")


class PostgresImports:
    """The port `ppcfetch.ports.Imports` on PostgreSQL."""

    def __init__(self, engine: Engine, admission: Admission) -> None:
        self._engine = engine
        self._admission = admission

    def ask(self, domains: Sequence[DomainName], wish: Wish) -> Answered:
        """Make the fetches that are needed, then let in what there is room for."""
        with translated(), self._engine.begin() as connection:
            fresh, active, needed = _sorted_out(connection, domains, wish)
            connection.execute(_ADD_DOMAINS, {"domains": needed})
            made = connection.execute(_ADD, _values(needed, wish)).rowcount
        jobs = tuple(admit(self._engine, self._admission))
        return Answered(fresh, active + len(needed) - made, jobs)

    def look(self, domains: Sequence[DomainName], wish: Wish) -> Answered:
        """Tell what asking would find."""
        with translated(), self._engine.connect() as connection:
            fresh, active, _ = _sorted_out(connection, domains, wish)
        return Answered(fresh, active)


def _sorted_out(
    connection: Connection, domains: Sequence[DomainName], wish: Wish
) -> tuple[int, int, list[str]]:
    """Count the fresh and the active ones; gives the others' names."""
    asked = {"domains": [one.name for one in domains], "window": wish.window}
    rows = connection.execute(_STATES, asked).all()
    active = sum(row.active for row in rows)
    needed = [row.domain for row in rows if not row.active and not row.fresh]
    return len(rows) - active - len(needed), active, needed


def _values(domains: Sequence[str], wish: Wish) -> dict[str, Any]:
    return {
        "domains": list(domains),
        "reason": str(wish.reason),
        "kind": str(JobKind.WALK),
        "pool": str(POOLS[wish.reason]),
        "asker": asker_of(wish.reason, None),
        "full": wish.reach.full,
        "full_every": wish.reach.full_every,
        "overlap": wish.reach.overlap,
    }
