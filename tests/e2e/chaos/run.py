"""Play one schedule: load, faults, quiet, books."""

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from time import monotonic

from ppcfetch.bootstrap.site import SitePorts, open_site
from ppcfetch.errors import Unavailable
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason
from ppcfetch.ports import Request
from ppcfetch.settings import load_settings
from tests.e2e.chaos import books
from tests.e2e.chaos.books import Figures
from tests.e2e.chaos.faults import SECONDS, Event, schedule
from tests.e2e.chaos.lanes import Lane
from tests.e2e.chaos.stage import LEASE_SECONDS, Stage, stage
from tests.waiting import wait_until

PAGES = {"large": (5, 14), "small": (1, 3), "last": (4, 9)}
ASKED_FIRST = 3
ASKED_LATER = 3
ASKED_SMALL = 8
ASKED_LAST = 2
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
        for _ in range(ASKED_FIRST):
            self._ask_for("large")
        began = monotonic()
        for event in sorted([*events, *self._wishes(events)], key=lambda event: event.at):
            wait_until(lambda at=event.at: self._is_time(began + at), describe="it is time")  # type: ignore[misc]
            if event.act(self.stage) is not False and event.kind:
                self.figures.faults[event.kind] = self.figures.faults.get(event.kind, 0) + 1
        self.stage.end_faults()
        books.recovery(self.stage, self.figures)
        books.wait_for_ends(self.stage)
        self.figures.schedules = 1
        self.figures.acknowledged = len(self.answered)
        books.check(self.stage, self.figures, self.answered)

    def _is_time(self, moment: float) -> bool:
        self.stage.keep_running()
        return monotonic() >= moment

    def _wishes(self, events: list[Event]) -> list[Event]:
        """Somebody asks now and then, and just before the last fault ends: it must not be idle."""
        end = events[-1].at
        moments = [
            *(("large", self.random.uniform(SECONDS / 3, SECONDS)) for _ in range(ASKED_LATER)),
            *(("small", self.random.uniform(0, SECONDS)) for _ in range(ASKED_SMALL)),
            *(("last", self.random.uniform(end - LEASE_SECONDS, end)) for _ in range(ASKED_LAST)),
        ]
        return [Event(at, "", partial(self._ask, size)) for size, at in moments]

    def _ask(self, size: str, _stage: Stage) -> None:
        self._ask_for(size)

    def _ask_for(self, size: str) -> None:
        pages = self.random.randint(*PAGES[size])
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


def play(seed: int, *, folder: Path, lane: Lane) -> Figures:
    """Play the schedule of a seed and give its figures. Raises: Failed."""
    with stage(folder, lane, name=f"chaos{seed}") as made:
        settings = load_settings(database_url=made.plant.database, redis_url=made.plant.redis)
        with open_site(settings, threads=1) as site:
            player = Player(made, site, Random(f"asks of {seed}"))
            try:
                player.play(schedule(seed))
            except AssertionError as wrong:
                again = f"python -m tests.e2e.chaos --first {seed} --schedules 1"
                message = f"schedule {seed} failed; {again} plays it again:\n{wrong}"
                raise Failed(message) from wrong
            return player.figures
