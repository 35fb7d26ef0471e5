"""Ask for a fetch: join the active one, refuse, or make one with its first job."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, text

from ppcfetch.adapters.database.followers import follow, may_join
from ppcfetch.adapters.database.rows import FETCH_COLUMNS, fetch_of
from ppcfetch.errors import DatabaseUnavailable, Refused
from ppcfetch.model.fetch import FetchKind, FetchReason, Freshness, asker_of, kind_of
from ppcfetch.model.job import JobKind, Pool
from ppcfetch.ports import Asked, Request

_TRIES = 5

POOLS = {
    FetchReason.PERSON: Pool.INTERACTIVE,
    FetchReason.COMMAND: Pool.INTERACTIVE,
    FetchReason.IMPORT: Pool.BULK,
    FetchReason.SCHEDULE: Pool.BULK,
}
"""Who asked decides where the first job waits: with those that a person looks at, or behind."""

# One asker at a time, so that two requests at once cannot both take his last place.
_ONE_BY_ONE = text("SELECT pg_advisory_xact_lock(hashtextextended('ppcfetch.asker', :asker))")

_ADD_DOMAIN = text("""
INSERT INTO domains (domain) VALUES (:domain) ON CONFLICT (domain) DO NOTHING
""")

_READ_DOMAIN = text("""
SELECT checked_at, attempted_at, mark, walked_at, clock_timestamp() AS now
FROM domains WHERE domain = :domain
""")

_ACTIVE = text(f"""
SELECT {FETCH_COLUMNS} FROM fetches WHERE domain = :domain AND state = 'active'
""")  # noqa: S608 -- our own names

_ACTIVE_OF_ASKER = text("""
SELECT count(*) FROM fetches WHERE asked_by = :asker AND state = 'active'
""")

_ADD_FETCH = text(f"""
INSERT INTO fetches (domain, reason, asked_by, asked_at, kind, until)
VALUES (:domain, :reason, :asker, clock_timestamp(), :kind, :until)
ON CONFLICT (domain) WHERE state = 'active' DO NOTHING
RETURNING {FETCH_COLUMNS}
""")  # noqa: S608 -- our own names

_ADD_JOB = text("""
INSERT INTO jobs (fetch_id, kind, pool, domain, until, asker, admitted, created_at, due_at)
VALUES (:fetch, :kind, :pool, :domain, :until, :asker, false, clock_timestamp(), clock_timestamp())
""")

_PROMOTE = text("""
WITH waiting AS (
    SELECT id FROM jobs WHERE fetch_id = :fetch AND state = 'queued' AND pool = 'bulk'
    ORDER BY id
    FOR UPDATE
)
UPDATE jobs SET pool = 'interactive', asker = :asker FROM waiting
WHERE jobs.id = waiting.id
""")

_RINGABLE = text("""
SELECT id, pool FROM jobs
WHERE fetch_id = :fetch AND state = 'queued' AND admitted AND due_at <= clock_timestamp()
ORDER BY id
""")


def ask(connection: Connection, request: Request) -> Asked:
    """Give the fetch that will refresh the domain, as `ppcfetch.ports.Fetches.request` says."""
    if request.limit is not None and request.asked_by is not None:
        connection.execute(_ONE_BY_ONE, {"asker": request.asked_by})
    domain = {"domain": request.domain.name}
    for _ in range(_TRIES):
        active = connection.execute(_ACTIVE, domain).one_or_none()
        if active is not None:
            if may_join(connection, active.id):
                return _join(connection, request, active)
            continue
        _refuse_if_needless(connection, request)
        connection.execute(_ADD_DOMAIN, domain)
        made = _make(connection, request)
        if made is not None:
            return made
    raise DatabaseUnavailable(f"fetches of {request.domain} begin and end too fast")


def _join(connection: Connection, request: Request, active: Row[Any]) -> Asked:
    if POOLS[request.reason] is Pool.INTERACTIVE and active.started_at is None:
        asker = asker_of(request.reason, request.asked_by)
        connection.execute(_PROMOTE, {"fetch": active.id, "asker": asker})
    follow(connection, active.id, request.asked_by)
    rows = connection.execute(_RINGABLE, {"fetch": active.id})
    jobs = tuple((row.id, Pool(row.pool)) for row in rows)
    return Asked(fetch=fetch_of(active), jobs=jobs, joined=True)


def _refuse_if_needless(connection: Connection, request: Request) -> None:
    row = connection.execute(_READ_DOMAIN, {"domain": request.domain.name}).one_or_none()
    if row is not None and not request.force:
        freshness = Freshness(row.checked_at, row.attempted_at)
        if not freshness.is_stale(row.now, request.window):
            raise Refused(
                f"{request.domain} is fresh: it was read to its end"
                f" on {row.checked_at:%Y-%m-%d at %H:%M} UTC"
            )
    if request.limit is None or request.asked_by is None:
        return
    busy = connection.scalar(_ACTIVE_OF_ASKER, {"asker": request.asked_by})
    if busy is not None and busy >= request.limit:
        raise Refused(
            f"{busy} fetches that you asked for are still active, and {request.limit} is the most"
        )


def _reach(connection: Connection, request: Request) -> tuple[FetchKind, datetime | None]:
    """Decide how far back the fetch walks, and give where a refresh may stop."""
    domain = {"domain": request.domain.name}
    row = connection.execute(_READ_DOMAIN, domain).one()
    reach = request.reach
    kind = kind_of(
        row.mark, row.walked_at, now=row.now, full_every=reach.full_every, full=reach.full
    )
    return kind, None if kind is FetchKind.FULL else row.mark - reach.overlap


def _make(connection: Connection, request: Request) -> Asked | None:
    """Give the new fetch, None when somebody else made one in the meantime."""
    kind, until = _reach(connection, request)
    asked_for = {
        "domain": request.domain.name,
        "reason": str(request.reason),
        "asker": request.asked_by,
        "kind": str(kind),
        "until": until,
    }
    row = connection.execute(_ADD_FETCH, asked_for).one_or_none()
    if row is None:
        return None
    pool = POOLS[request.reason]
    first_job = {
        "fetch": row.id,
        "kind": str(JobKind.WALK),
        "pool": str(pool),
        "domain": request.domain.name,
        "until": until,
        "asker": asker_of(request.reason, request.asked_by),
    }
    connection.execute(_ADD_JOB, first_job)
    follow(connection, row.id, request.asked_by)
    return Asked(fetch=fetch_of(row), jobs=(), joined=False)
