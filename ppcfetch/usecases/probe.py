"""Ask the archive out of turn with the walk, to find out what its filters mean."""

from collections.abc import Generator

from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.ports import Run
from ppcfetch.usecases.ask_archive import Asking, ask_page


class NotProven(Exception):
    """Nothing shows that parts would have every ad: the walk is not split. Never leaves `split`."""


class Probe:
    """Asks for pages that are not stored, for half a patience at most.

    A job without a stored page shows no progress; and where calls are that scarce, several
    walks at once are no faster than one.
    """

    def __init__(self, run: Run, asking: Asking) -> None:
        """Start the time that may be spent."""
        self.asked = 0
        self._run = run
        self._asking = asking
        self._by = asking.clock.monotonic() + asking.patience.total_seconds() / 2

    def __call__(
        self, query: Query, cursor: str | None = None
    ) -> Generator[None, None, ArchivePage]:
        """Give a page of a query. Raises: NotProven when the time is used up; as `ask_page`."""
        if self._asking.clock.monotonic() > self._by:
            raise NotProven("the archive may not be asked often enough")
        self.asked += 1
        return (yield from ask_page(self._run, query, cursor, asking=self._asking))
