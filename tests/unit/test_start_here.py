"""Six happy paths that explain the system. Read this file first.

`tests/stage.py` is the stage: servers in memory on one clock, workers cut into their steps.
"""

from datetime import timedelta

from ppcfetch.model.fetch import FetchState
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.lease import Budget
from ppcfetch.model.outcome import Done, Spill
from tests.stage import Stage

TOP_UP = [None]
"""After a walk of several pages the first page is looked at again, for what moved meanwhile."""


def test_a_request_is_a_row_and_a_ring_at_the_door() -> None:
    """The row is the truth and cannot be lost; the message only wakes somebody up."""
    stage = Stage()

    asked = stage.request()

    job = stage.database.jobs[1].job
    assert asked.fetch.state is FetchState.ACTIVE
    assert (job.state, job.pool) == (JobState.QUEUED, Pool.INTERACTIVE)
    assert stage.messages() == 1


def test_a_worker_walks_through_the_archive_and_stores_every_page() -> None:
    """Each page is stored before the next is asked for; at the end nothing is left to do."""
    stage = Stage(pages=3)
    asked = stage.request()

    outcomes = stage.worker().work()

    assert outcomes == [Done(), Done()]
    assert stage.archive.asked == [None, "1", "2", *TOP_UP]
    assert stage.stored() == stage.archive.creatives()
    assert stage.database.get(asked.fetch.id).state is FetchState.DONE
    assert stage.messages() == 0


def test_two_people_who_open_the_same_page_share_one_fetch() -> None:
    """The second request joins; there is one job and one message."""
    stage = Stage()
    first = stage.request(who=1)

    second = stage.request(who=2)

    assert (second.fetch.id, second.joined) == (first.fetch.id, True)
    assert (len(stage.database.jobs), stage.messages()) == (1, 1)


def test_when_a_worker_dies_another_goes_on_from_the_last_stored_page() -> None:
    """A lease lapses in silence; the checkpoint in the row says where to go on."""
    stage = Stage(pages=3)
    stage.request()
    dying = stage.worker()
    (held,) = dying.lease()
    next(dying.begin(held))
    stage.pass_lease()

    outcomes = stage.worker(host="other").work()

    assert outcomes == [Done(), Done()]
    assert stage.archive.asked == [None, "1", "2", *TOP_UP]
    assert stage.stored() == stage.archive.creatives()


def test_a_large_domain_holds_no_interactive_worker_for_long() -> None:
    """Behind the budget the rest continues in the bulk pool, from the checkpoint."""
    stage = Stage(pages=5)
    stage.request()
    budget = Budget(pages=2, time=timedelta(seconds=20))

    interactive = stage.worker(budget=budget).work()
    bulk = stage.worker(Pool.BULK).work()

    assert (interactive, bulk) == ([Spill()], [Done(), Done()])
    assert stage.archive.asked == [None, "1", "2", "3", "4", *TOP_UP]
    assert stage.stored() == stage.archive.creatives()


def test_when_redis_loses_everything_the_rows_ring_again() -> None:
    """The sweeper asks the stream, not the clock, whether a job still has its message."""
    stage = Stage()
    stage.request()
    worker = stage.worker()
    stage.redis.flushall()

    report = stage.sweep(worker)
    outcomes = worker.work()

    assert report is not None
    assert (report.rebuilt, stage.messages()) == (True, 0)
    assert outcomes == [Done(), Done()]
    assert stage.stored() == stage.archive.creatives()
