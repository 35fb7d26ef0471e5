"""`explain` over its adapters."""

from collections.abc import Sequence

from ppcfetch.adapters.database.row_facts import RowFactsReader
from ppcfetch.adapters.redis.inspector import RedisInspector
from ppcfetch.adapters.redis.stream_facts import stream_facts
from ppcfetch.errors import StreamUnavailable
from ppcfetch.model.domain import DomainName
from ppcfetch.model.whereabouts import Explanation, Rhythm, RowFacts, StreamFacts
from ppcfetch.settings import Settings
from ppcfetch.usecases.explain import explain


class Explaining:
    """Explains jobs; without Redis it says so and tells what the rows tell."""

    def __init__(self, rows: RowFactsReader, inspector: RedisInspector, settings: Settings) -> None:
        self._rows = rows
        self._inspector = inspector
        self._egresses = settings.egresses
        limits = settings.limits
        self._rhythm = Rhythm(
            lease=limits.lease,
            renew=limits.renew,
            stall=limits.stall,
            sweep=settings.sweep_every,
            max_attempts=limits.max_attempts,
        )

    def job(self, job_id: int) -> Explanation:
        """Explain one job. Raises: NotFound."""
        (told,) = self._explain([self._rows.of_job(job_id)])
        return told

    def domain(self, domain: DomainName) -> Sequence[Explanation]:
        """Explain the jobs of a domain's active or newest fetch. Raises: NotFound."""
        return self._explain(self._rows.of_domain(domain))

    def _explain(self, rows: Sequence[RowFacts]) -> Sequence[Explanation]:
        looks: Sequence[StreamFacts | None]
        try:
            jobs = [row.job for row in rows]
            looks = stream_facts(jobs, inspector=self._inspector, egresses=self._egresses)
        except StreamUnavailable:
            looks = [None] * len(rows)
        return [explain(row, look, self._rhythm) for row, look in zip(rows, looks, strict=True)]
