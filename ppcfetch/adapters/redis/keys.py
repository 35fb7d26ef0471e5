"""The names of all keys; one hash tag, so that a script touches one slot of a cluster."""

from dataclasses import dataclass

from ppcfetch.model.job import Pool

GROUP = "workers"
NAME_PARTS = 3


@dataclass(frozen=True, slots=True)
class Keys:
    """Key names under one prefix.

    Shape: the prefix holds its hash tag in braces.
    """

    prefix: str = "{ppcfetch}"

    @property
    def live(self) -> str:
        """The hash from job id to ``<pool>|<message id>``."""
        return f"{self.prefix}:live"

    @property
    def dead(self) -> str:
        """The stream of dead letters."""
        return f"{self.prefix}:dead"

    @property
    def epoch(self) -> str:
        """The value that tells whether Redis lost everything."""
        return f"{self.prefix}:epoch"

    def stream(self, pool: Pool) -> str:
        """The stream of one pool."""
        return f"{self.prefix}:{pool}"

    def consumer(self, name: str) -> str:
        """The lock on a consumer name; its value is the bearer's incarnation."""
        return f"{self.prefix}:consumer:{name}"

    @staticmethod
    def pool_of(name: str) -> Pool | None:
        """Give the pool that a consumer name ``<host>.<pool>.<n>`` is of, None when it is none."""
        parts = name.rsplit(".", 2)
        return Pool(parts[1]) if len(parts) == NAME_PARTS and parts[1] in set(Pool) else None

    def pace(self, egress: str) -> str:
        """The token bucket and the breaker of one way out to the archive."""
        return f"{self.prefix}:pace:{egress}"

    @property
    def paces(self) -> str:
        """What all ways out have in common: how many calls in a row nobody had an answer to."""
        return f"{self.prefix}:pace"

    @property
    def askers(self) -> str:
        """The processes that asked for leave lately, and when."""
        return f"{self.prefix}:askers"

    @property
    def doorbell(self) -> list[str]:
        """What every script about live messages touches: the hash, then the pools' streams."""
        return [self.live, *(self.stream(pool) for pool in Pool)]
