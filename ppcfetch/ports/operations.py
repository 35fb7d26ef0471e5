"""What operators do, and what is kept of it."""

from collections.abc import Collection, Sequence
from typing import Protocol

from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Deed, Noted, Pause


class Pauses(Protocol):
    """Which pools are paused; kept in the database, so that it outlives workers and Redis."""

    def pause_of(self, pool: Pool) -> Pause | None:
        """Give a pool's pause, None while it may work. Cheap: workers ask twice a second."""
        ...

    def pause(self, pool: Pool, deed: Deed) -> bool:
        """Pause a pool and note the deed in one transaction; False when it was paused already."""
        ...

    def resume(self, pool: Pool, deed: Deed) -> bool:
        """Let a pool work again and note the deed in one transaction; False when it does."""
        ...


class DeadLetters(Protocol):
    """The messages of dead jobs; the job's row is what decides, these only tell the story."""

    def forget(self, job_ids: Collection[int]) -> int:
        """Delete the letters of these jobs; gives how many."""
        ...


class Consumers(Protocol):
    """The names in the groups."""

    def remove_consumer(self, name: str) -> bool:
        """Remove a consumer in one step with looking at it; False when there is none.

        Raises: Refused when it holds deliveries or a process bears its name, saying which.
        """
        ...


class Audit(Protocol):
    """What operators did, kept for ever."""

    def note(self, deed: Deed, target: str) -> None:
        """Keep a deed that changed something outside of the database."""
        ...

    def about(self, target: str, *, count: int = 20) -> Sequence[Noted]:
        """Give the deeds done to a target, newest first."""
        ...
