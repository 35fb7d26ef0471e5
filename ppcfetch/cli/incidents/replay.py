"""What a replay found out: the same figures for the usual code and for ours."""

from collections.abc import Mapping
from dataclasses import dataclass

Figures = Mapping[str, int | float]


@dataclass(frozen=True, slots=True)
class Replay:
    """One incident, replayed twice.

    Shape: both sides have the same figures; shown tells that the usual code had the incident.
    Both have `lost` and `doubled`: jobs that never ended, and work that was done once more.
    """

    incident: str
    story: str
    naive: Figures
    ours: Figures
    shown: bool

    @property
    def holds(self) -> bool:
        """Whether ours lost and doubled nothing while the usual code had the incident."""
        return self.shown and self.ours["lost"] == 0 and self.ours["doubled"] == 0
