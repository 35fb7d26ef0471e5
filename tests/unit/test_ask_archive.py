"""Asking for one page when there is more than one way out to the archive."""

from datetime import timedelta

import pytest

from ppcfetch.adapters.redis.pace import PaceRules
from ppcfetch.errors import ArchiveBlocked, ArchiveThrottled, ArchiveUnavailable, ProxyFailed
from ppcfetch.model.ad import ArchivePage, Query
from ppcfetch.usecases.ask_archive import Asking, ask_page
from tests.builders import BLUEBIRD, a_job
from tests.emulated_archive import LoneRun
from tests.fakes_pace import FakePace
from tests.stage import StageArchive, StageClock

ONE, TWO, THREE = "one:1", "two:2", "three:3"
QUERY = Query(BLUEBIRD)


class Ways:
    """An archive behind so many ways out; `answers` of the archive are given in order."""

    def __init__(self, *egresses: str, patience: float = 60) -> None:
        self.clock = StageClock()
        self.archive = StageArchive(pages=1)
        self.pace = FakePace(None, self.clock.monotonic, PaceRules(), egresses)
        self.asking = Asking(self.archive, self.pace, self.clock, timedelta(seconds=patience))

    def ask(self) -> ArchivePage:
        """Ask for a page to the end."""
        steps = ask_page(LoneRun(a_job(query=QUERY)), QUERY, None, asking=self.asking)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                page: ArchivePage = end.value
                return page


def test_a_call_that_fails_while_another_way_is_free_goes_on_over_that() -> None:
    ways = Ways(ONE, TWO, THREE)
    ways.archive.answers = [ProxyFailed("407"), ArchiveBlocked("captcha")]

    page = ways.ask()

    assert page.ads
    assert ways.archive.ways == [ONE, TWO, THREE]


def test_when_all_ways_rest_the_job_rests_until_the_first_is_free() -> None:
    ways = Ways(ONE, TWO)
    ways.archive.answers = [
        ArchiveThrottled("429", retry_after=timedelta(seconds=300)),
        ArchiveThrottled("429", retry_after=timedelta(seconds=90)),
    ]

    with pytest.raises(ArchiveThrottled) as rested:
        ways.ask()

    assert rested.value.retry_after == timedelta(seconds=90)
    assert ways.archive.ways == [ONE, TWO]


def test_an_ordinary_failure_is_not_carried_to_another_way() -> None:
    """It may be this question that cannot be answered; the attempt counts."""
    ways = Ways(ONE, TWO)
    ways.archive.answers = [ArchiveUnavailable("503")]

    with pytest.raises(ArchiveUnavailable):
        ways.ask()

    assert ways.archive.ways == [ONE]


def test_a_job_does_not_try_way_after_way_beyond_its_patience() -> None:
    ways = Ways(ONE, TWO, THREE, patience=-1)
    ways.archive.answers = [ProxyFailed("refused")]

    with pytest.raises(ArchiveThrottled) as rested:
        ways.ask()

    assert rested.value.retry_after == timedelta(0)
    assert ways.archive.ways == [ONE]
