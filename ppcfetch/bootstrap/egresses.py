"""The ways out to the archive as status and doctor see them."""

from collections.abc import Sequence

from ppcfetch.adapters.redis.inspector import RedisInspector
from ppcfetch.errors import StreamUnavailable
from ppcfetch.model.egress import EgressFacts


class Egresses:
    """Reads only."""

    def __init__(self, inspector: RedisInspector, names: Sequence[str]) -> None:
        self._inspector = inspector
        self._names = names

    def rows(self) -> list[dict[str, object]]:
        """Give one row an egress; only its name is known while Redis is away."""
        try:
            return [_row(one) for one in self.facts()]
        except StreamUnavailable:
            unknown = {"state": None, "rests_seconds": None, "pace_percent": None, "why": None}
            return [{"egress": name, **unknown} for name in self._names]

    def facts(self) -> Sequence[EgressFacts]:
        """Give what the doctor judges. Raises: StreamUnavailable."""
        return self._inspector.egresses(self._names)


def _row(facts: EgressFacts) -> dict[str, object]:
    return {
        "egress": facts.name,
        "state": facts.state,
        "rests_seconds": round(facts.rest.total_seconds(), 1),
        "pace_percent": round(facts.rate * 100),
        "why": facts.why or None,
    }
