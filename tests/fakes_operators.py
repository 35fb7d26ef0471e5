"""What operators do, in memory (ports `Pauses` and `Audit`)."""

from collections.abc import Sequence

from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Deed, Noted, Pause, pool_target
from tests.fakes_followers import FakeFollowers


class FakeOperators(FakeFollowers):
    """The ports `Pauses` and `Audit`."""

    def pause_of(self, pool: Pool) -> Pause | None:
        with self.call():
            return self.pauses.get(pool)

    def pause(self, pool: Pool, deed: Deed) -> bool:
        with self.call():
            if pool in self.pauses:
                return False
            self.pauses[pool] = Pause(pool, self.moment(), deed.who, deed.reason)
            self.keep(deed, pool_target(pool))
            return True

    def resume(self, pool: Pool, deed: Deed) -> bool:
        with self.call():
            if self.pauses.pop(pool, None) is None:
                return False
            self.keep(deed, pool_target(pool))
            return True

    def note(self, deed: Deed, target: str) -> None:
        with self.call():
            self.keep(deed, target)

    def about(self, target: str, *, count: int = 20) -> Sequence[Noted]:
        with self.call():
            return [noted for noted in reversed(self.audit) if noted.target == target][:count]
