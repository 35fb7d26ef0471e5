"""How many times a floor our work takes, both measured in turn in the same run."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Ratio:
    """Two medians, in seconds for one call."""

    floor: float
    ours: float

    def __str__(self) -> str:
        """Say it in a line."""
        times = f"{self.ours * 1000:.2f} ms against {self.floor * 1000:.2f} ms"
        return f"{self.ours / self.floor:.2f} times the floor ({times})"


def compare(*, floor: Callable[[], object], ours: Callable[[], object], rounds: int) -> Ratio:
    """Run both in turn, so that whatever slows the machine slows both alike."""
    pairs = [(_seconds(floor), _seconds(ours)) for _ in range(rounds)]
    return Ratio(median(pair[0] for pair in pairs), median(pair[1] for pair in pairs))


def report(title: str, ratio: Ratio) -> None:
    """Print a result on a line of its own."""
    print(f"\n{title}: {ratio}")


def _seconds(work: Callable[[], object]) -> float:
    begun = perf_counter()
    work()
    return perf_counter() - begun
