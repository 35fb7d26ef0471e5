"""Workers of one egress, on a pace in memory and on real servers, and time that can be moved."""

from abc import ABC, abstractmethod
from datetime import timedelta

from ppcfetch.adapters.redis.connections import connect
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.pace import PaceRules, RedisPace
from ppcfetch.model.egress import DIRECT, Permit
from ppcfetch.model.job import Pool
from ppcfetch.ports import Pace
from tests.fakes_pace import FakePace

EGRESS = DIRECT
LEAVE = Permit(EGRESS)


def wait_of(pace: Pace, pool: Pool) -> timedelta:
    """Ask once; zero when it was allowed."""
    leave = pace.ask(pool)
    return timedelta(0) if isinstance(leave, Permit) else leave


class ProcessClock:
    """A process's clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def random(self) -> float:
        return 0.5


class PaceRig(ABC):
    """Makes workers' paces, lets time pass for all of them, and closes what it opened."""

    @abstractmethod
    def worker(self, rate_per_second: float | None, *egresses: str) -> Pace: ...

    @abstractmethod
    def advance(self, length: timedelta) -> None: ...

    @abstractmethod
    def close(self) -> None: ...


class FakePaceRig(PaceRig):
    """One pace in memory, shared by all workers."""

    def __init__(self) -> None:
        self._clock = ProcessClock()
        self._paces: dict[float | None, FakePace] = {}

    def worker(self, rate_per_second: float | None, *egresses: str) -> Pace:
        ways = egresses or (EGRESS,)
        fresh = FakePace(rate_per_second, self._clock.monotonic, PaceRules(), ways)
        return self._paces.setdefault(rate_per_second, fresh)

    def advance(self, length: timedelta) -> None:
        self._clock.now += length.total_seconds()

    def close(self) -> None: ...


class RealPaceRig(PaceRig):
    """Workers with clients of their own; what Redis noted is dated back to let time pass."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.keys = Keys("{test}")
        self.clock = ProcessClock()
        self._egresses: set[str] = set()
        self._connections = [connect(url, block=timedelta(0))]
        self.client = self._connections[0].rest

    def worker(self, rate_per_second: float | None, *egresses: str) -> RedisPace:
        ways = egresses or (EGRESS,)
        self._egresses.update(ways)
        self._connections.append(connect(self.url, block=timedelta(0)))
        return RedisPace(
            self._connections[-1].rest,
            self.keys,
            egresses=ways,
            rate_per_second=rate_per_second,
            clock=self.clock,
            asker=f"host.bulk.{len(self._connections)}",
        )

    def advance(self, length: timedelta) -> None:
        self.clock.now += length.total_seconds()
        milliseconds = length / timedelta(milliseconds=1)
        for key in map(self.keys.pace, self._egresses):
            for name in ("at", "opened", "trial"):
                if float(self.client.hget(key, name) or 0):
                    self.client.hincrbyfloat(key, name, -milliseconds)

    def close(self) -> None:
        for connections in self._connections:
            connections.close()
