"""Job rows under the lease protocol: taken, beaten and settled by the database clock.

Each method is one transaction that locks job rows in id order, then fetches (`closing`).
"""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.driver import lent
from ppcfetch.adapters.database.engine import translated
from ppcfetch.adapters.database.settle import settle_outcomes
from ppcfetch.adapters.database.take import bury_used_up, take_leases
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Holder, Lease, Limits, Refusal, Refused
from ppcfetch.model.outcome import Outcome
from ppcfetch.ports import Taking

# A row that somebody has locked must not hold up the beats of the others: it counts as held while
# it says so. It is our own page write, which beats by itself, or the next beat will tell.
_BEAT = text("""
WITH asked AS (
    SELECT id, fence
    FROM unnest(CAST(:ids AS bigint[]), CAST(:fences AS bigint[])) AS asked (id, fence)
), held AS (
    SELECT jobs.id FROM jobs JOIN asked ON asked.id = jobs.id AND asked.fence = jobs.fence
    WHERE jobs.state = 'running'
), free AS (
    SELECT jobs.id FROM jobs JOIN asked ON asked.id = jobs.id AND asked.fence = jobs.fence
    WHERE jobs.state = 'running'
    ORDER BY jobs.id
    FOR UPDATE OF jobs SKIP LOCKED
), beaten AS (
    UPDATE jobs SET beat_at = clock_timestamp() FROM free WHERE jobs.id = free.id
)
SELECT id FROM held
""")

_GIVE_BACK = text("""
WITH held AS (
    SELECT jobs.id
    FROM jobs
    JOIN unnest(CAST(:ids AS bigint[]), CAST(:fences AS bigint[])) AS asked (id, fence)
        ON asked.id = jobs.id AND asked.fence = jobs.fence
    WHERE jobs.state = 'running' AND NOT jobs.start_given_back
    ORDER BY jobs.id
    FOR UPDATE OF jobs
)
UPDATE jobs SET starts = greatest(jobs.starts - 1, 0), start_given_back = true
FROM held WHERE jobs.id = held.id
""")

_VETOED = text("""
SELECT id FROM jobs
WHERE id = ANY(CAST(:ids AS bigint[])) AND state = 'running'
    AND beat_at > clock_timestamp() - CAST(:lease AS interval)
""")

_NEXT_INCARNATION = text("SELECT nextval('incarnations')")


class PostgresJobs:
    """The port `ppcfetch.ports.Jobs` on PostgreSQL."""

    def __init__(self, engine: Engine, limits: Limits) -> None:
        self._engine = engine
        self._limits = limits

    def next_incarnation(self) -> int:
        """Give the next number of the sequence; a lost answer only skips one."""
        with translated(), self._engine.begin() as connection:
            return int(connection.execute(_NEXT_INCARNATION).scalar_one())

    def take(
        self, takings: Sequence[Taking], *, holder: Holder, pool: Pool
    ) -> Mapping[int, Lease | Refused]:
        """Lease what may be leased, end what has used up its starts, refuse the rest."""
        if not takings:
            return {}
        limits = self._limits
        with translated(), lent(self._engine) as raw:
            answers = take_leases(raw, takings, holder=holder, pool=pool, limits=limits)
        used_up = [taking for taking in takings if _is_used_up(answers[taking.job_id])]
        if used_up:
            with translated(), self._engine.begin() as connection:
                answers |= bury_used_up(
                    connection, used_up, holder=holder, pool=pool, limits=limits
                )
        return answers

    def beat(self, leases: Sequence[Lease]) -> frozenset[int]:
        """Beat for all leases in one statement; what is not given back is lost."""
        if not leases:
            return frozenset()
        with translated(), self._engine.begin() as connection:
            return frozenset(connection.scalars(_BEAT, _fences(leases)))

    def give_back_starts(self, leases: Sequence[Lease]) -> None:
        """Take back the start of each lease, at most once however often it is asked."""
        if not leases:
            return
        with translated(), self._engine.begin() as connection:
            connection.execute(_GIVE_BACK, _fences(leases))

    def settle(self, outcomes: Sequence[tuple[Lease, Outcome]]) -> frozenset[int]:
        """Write the outcomes; an outcome that is there already counts as written."""
        if not outcomes:
            return frozenset()
        with translated(), lent(self._engine) as raw:
            return settle_outcomes(raw, outcomes)

    def vetoed(self, job_ids: Collection[int]) -> frozenset[int]:
        """Give those of the jobs that somebody works on."""
        if not job_ids:
            return frozenset()
        asked = {"ids": list(job_ids), "lease": self._limits.lease}
        with translated(), self._engine.begin() as connection:
            return frozenset(connection.scalars(_VETOED, asked))


def _is_used_up(answer: Lease | Refused) -> bool:
    return isinstance(answer, Refused) and answer.why is Refusal.EXHAUSTED


def _fences(leases: Sequence[Lease]) -> dict[str, list[int]]:
    return {
        "ids": [lease.job.id for lease in leases],
        "fences": [lease.fence for lease in leases],
    }
