"""What rows prove about the fetches of some domains; read only."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.engine import translated

_FETCHES = text("""
SELECT fetches.domain, fetches.state,
    extract(epoch FROM fetches.started_at - fetches.asked_at)::float8 AS waited,
    (
        SELECT coalesce(sum(jobs.fence), 0) FROM jobs
        WHERE jobs.fetch_id = fetches.id AND jobs.kind = 'walk'
    ) AS leases,
    (
        SELECT coalesce(sum(jobs.pages), 0) FROM jobs
        WHERE jobs.fetch_id = fetches.id AND jobs.kind = 'top up'
    ) AS looks,
    coalesce(log.pages, 0) AS pages, coalesce(log.ads, 0) AS ads,
    coalesce(log.workers, 0) AS workers
FROM fetches LEFT JOIN LATERAL (
    SELECT count(*) AS pages, sum(page_log.ads) AS ads, count(DISTINCT page_log.holder) AS workers
    FROM page_log JOIN jobs ON jobs.id = page_log.job_id
    WHERE jobs.fetch_id = fetches.id AND jobs.kind = 'walk'
) log ON true
WHERE fetches.domain = ANY(CAST(:domains AS text[]))
ORDER BY fetches.id
""")

# The time that a worker had a job, from its first page to its last.
_AT_ONCE = text("""
WITH spans AS (
    SELECT page_log.job_id, page_log.holder, page_log.fence,
        min(page_log.written_at) AS began, max(page_log.written_at) AS ended
    FROM page_log JOIN jobs ON jobs.id = page_log.job_id
    WHERE jobs.domain = :domain
    GROUP BY page_log.job_id, page_log.holder, page_log.fence
)
SELECT coalesce(max(together), 0) FROM (
    SELECT count(*) AS together
    FROM spans one JOIN spans other
        ON other.job_id = one.job_id AND one.began BETWEEN other.began AND other.ended
    GROUP BY one.job_id, one.holder, one.fence
) counted
""")

_STORED = text("""
SELECT domain, creative_id FROM ads WHERE domain = ANY(CAST(:domains AS text[]))
""")


@dataclass(frozen=True, slots=True)
class FetchEvidence:
    """What became of one fetch.

    Shape: waited is None while it has not begun; leases counts every lease of its walks, pages
    and ads what they wrote, workers the names that wrote; looks counts the pages from the top
    that were read once more behind a walk, for what had moved meanwhile.
    Units: waited is in seconds.
    """

    domain: str
    state: str
    waited: float | None
    leases: int
    pages: int
    ads: int
    workers: int
    looks: int = 0


class Evidence:
    """Reads what happened. Raises: DatabaseUnavailable."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def fetches(self, domains: Collection[str]) -> list[FetchEvidence]:
        """Give every fetch of the domains, oldest first."""
        with translated(), self._engine.begin() as connection:
            rows = connection.execute(_FETCHES, {"domains": list(domains)}).all()
        return [
            FetchEvidence(
                domain=row.domain,
                state=row.state,
                waited=row.waited,
                leases=int(row.leases),
                pages=int(row.pages),
                ads=int(row.ads),
                workers=int(row.workers),
                looks=int(row.looks),
            )
            for row in rows
        ]

    def at_once(self, domain: str) -> int:
        """Give the most workers that wrote pages of one job of a domain at the same time."""
        with translated(), self._engine.begin() as connection:
            return int(connection.execute(_AT_ONCE, {"domain": domain}).scalar_one())

    def stored(self, domains: Collection[str]) -> dict[str, set[str]]:
        """Give the ids of all stored ads by domain."""
        found: dict[str, set[str]] = {domain: set() for domain in domains}
        with translated(), self._engine.begin() as connection:
            for domain, creative in connection.execute(_STORED, {"domains": list(domains)}):
                found[domain].add(creative)
        return found
