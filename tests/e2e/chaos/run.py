"""Play one schedule: load, faults, quiet, books."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic

import structlog

from ppcfetch.bootstrap.site import SitePorts, open_site
from ppcfetch.errors import Unavailable
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason
from ppcfetch.ports import Request
from ppcfetch.settings import load_settings
from tests.e2e.chaos import books
from tests.e2e.chaos.books import Figures
from tests.e2e.chaos.faults import SECONDS, Event, schedule
from tests.e2e.chaos.stage import Stage, stage
from tests.e2e.nursery import Nursery
from tests.servers import Databases
from tests.waiting import wait_until

ARCHIVE_LATENCY_MS = 100
LARGE = (15, 45)
LARGE_ASKED = 5
SMALL = (1, 6)
ASKED = 10
PAGE = 100


class Failed(AssertionError):
    """A schedule went wrong; the text says which, and how to play it again."""


@dataclass
class Player:
    """Plays one schedule on a stage and keeps the ledger of what was answered."""

    stage: Stage
    site: SitePorts
    random: Random
    figures: Figures = field(default_factory=Figures)
    answered: list[str] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)

    def play(self, events: list[Event]) -> None:
        """Do everything at its time, then wait for quiet and compare."""
        wishes = [Event(self.random.uniform(0, SECONDS), "", self._ask) for _ in range(ASKED)]
        for _ in range(LARGE_ASKED):
            self._ask_for(self.random.randint(*LARGE))
        began = monotonic()
        for event in sorted([*events, *wishes], key=lambda event: event.at):
            wait_until(lambda at=event.at: self._is_time(began + at), describe="it is time")  # type: ignore[misc]
            if event.kind:
                structlog.get_logger().info("chaos", kind=event.kind)
                self.figures.faults[event.kind] = self.figures.faults.get(event.kind, 0) + 1
            event.act(self.stage)
        self.stage.quiet()
        slowest = books.recovery(self.stage)
        self.figures.slowest_recovery_leases = round(slowest, 2)
        self.figures.recoveries_over_3_leases = int(slowest > 3)
        books.wait_for_ends(self.stage)
        self.figures.schedules = 1
        self.figures.acknowledged = len(self.answered)
        books.check(self.stage, self.figures, self.answered)

    def _is_time(self, moment: float) -> bool:
        self.stage.keep_running()
        return monotonic() >= moment

    def _ask(self, _stage: Stage) -> None:
        self._ask_for(self.random.randint(*SMALL))

    def _ask_for(self, pages: int) -> None:
        ads = pages * PAGE - self.random.randrange(PAGE)
        if ads in self.asked:
            return
        self.asked.add(ads)
        domain = f"ads-{ads}.example"
        self.figures.unclear += 1
        with suppress(Unavailable):
            self.site.request_refresh(Request(DomainName.parse(domain), FetchReason.COMMAND))
            self.answered.append(domain)
            self.figures.unclear -= 1


def play(
    seed: int, *, folder: Path, databases: Databases, nursery: Nursery, archive: str
) -> Figures:
    """Play the schedule of a seed and give its figures. Raises: Failed."""
    with stage(folder, databases, nursery=nursery, archive=archive, name=f"chaos{seed}") as made:
        settings = load_settings(database_url=made.plant.database, redis_url=made.plant.redis)
        with open_site(settings, threads=1) as site:
            player = Player(made, site, Random(f"asks of {seed}"))
            try:
                player.play(schedule(seed))
            except AssertionError as wrong:
                again = f"python -m tests.e2e.chaos --first {seed} --schedules 1"
                message = f"schedule {seed} failed; {again} plays it again: {wrong}"
                raise Failed(message) from wrong
            return player.figures
