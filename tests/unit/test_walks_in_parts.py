"""A huge walk is walked in parts by several workers, and its fetch ends once."""

from itertools import count

from ppcfetch.errors import ArchiveBlocked, ArchiveRejected
from ppcfetch.model.ad import AdFormat, Query
from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.job import JobKind, JobState, Pool
from ppcfetch.model.outcome import Dead, Outcome
from tests.shelf import Shelf, a_shelf
from tests.stage import Seat, Stage


def a_stage(shelf: Shelf) -> Stage:
    """A stage on which walks of thirty ads or more are split."""
    stage = Stage()
    stage.walked, stage.split_at = shelf, 30
    return stage


def work(stage: Stage, *seats: Seat) -> list[Outcome]:
    """Let the workers go on until there is nothing to do."""
    outcomes: list[Outcome] = []
    while True:
        stage.sweep(seats[0])
        done = [outcome for seat in seats for outcome in seat.work()]
        if not done:
            return outcomes
        outcomes += done


def test_a_huge_domain_is_read_in_parts_and_no_ad_is_lost() -> None:
    shelf = a_shelf()
    stage = a_stage(shelf)
    asked = stage.request()
    workers = stage.worker(), stage.worker(Pool.BULK), stage.worker(Pool.BULK)

    work(stage, *workers)

    walks = [row.job for row in stage.database.jobs.values() if row.job.kind is JobKind.WALK]
    assert stage.database.get(asked.fetch.id).state is FetchState.DONE
    assert stage.stored() == {ad.creative_id for ad in shelf.ads}
    assert len(walks) > 1 + 3 + 2
    assert {job.state for job in walks} == {JobState.DONE}
    assert len(stage.database.fetches) == 1
    assert stage.messages() == 0


def test_a_part_that_died_makes_the_fetch_partial_and_is_repaired_alone() -> None:
    shelf = a_shelf()
    stage = a_stage(shelf)
    asked = stage.request(FetchReason.IMPORT)
    worker = stage.worker(Pool.BULK)

    def fail(query: Query, cursor: str | None) -> None:
        if query.format is AdFormat.VIDEO and cursor is not None:
            raise ArchiveRejected("400")

    shelf.fail = fail
    outcomes = work(stage, worker)
    partial = stage.database.get(asked.fetch.id)
    dead = [row.job for row in stage.database.jobs.values() if row.job.state is JobState.DEAD]

    assert partial.state is FetchState.PARTIAL
    assert sum(isinstance(outcome, Dead) for outcome in outcomes) == len(dead) > 0
    assert {job.query.format for job in dead} == {AdFormat.VIDEO}
    kept = {ad.creative_id for ad in shelf.ads if ad.format is not AdFormat.VIDEO}
    assert kept < stage.stored()


def test_a_small_domain_is_one_walk() -> None:
    stage = a_stage(a_shelf(count=29))
    asked = stage.request()

    work(stage, stage.worker(), stage.worker(Pool.BULK))

    walks = [row for row in stage.database.jobs.values() if row.job.kind is JobKind.WALK]
    assert stage.database.get(asked.fetch.id).state is FetchState.DONE
    assert len(walks) == 1


def test_an_archive_that_blocks_every_few_calls_is_read_all_the_same() -> None:
    """Finding out how to split takes more calls than it answers in a row: it must end, too."""
    stage = a_stage(shelf := a_shelf())
    asked = stage.request(FetchReason.IMPORT)
    worker = stage.worker(Pool.BULK)
    calls = count(1)

    def fail(_query: Query, _cursor: str | None) -> None:
        if next(calls) % 5 == 0:
            raise ArchiveBlocked("302")

    shelf.fail = fail
    for _ in range(60):
        work(stage, worker)
        stage.clock.now += 600

    assert stage.database.get(asked.fetch.id).state is FetchState.DONE
    assert stage.stored() == {ad.creative_id for ad in shelf.ads}
