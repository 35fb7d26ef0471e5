"""Dead jobs under an operator's hand: retried or put aside, and either is kept in the audit."""

import pytest

from ppcfetch.errors import NotFound, Refused
from ppcfetch.model.fetch import FetchReason, FetchState
from ppcfetch.model.job import JobState
from ppcfetch.model.operation import Action, Deed
from ppcfetch.model.outcome import Dead
from tests.contract.database_rig import Rig

RETRY = Deed("ann", Action.RETRY, "the archive is repaired")
DISCARD = Deed("ann", Action.DISCARD, "nobody wants it")


def dead_job(database: Rig) -> int:
    """Give a job that has just died, and its fetch with it."""
    job_id = database.queued()
    database.jobs.settle([(database.lease(job_id), Dead("wrong shape"))])
    return job_id


def deeds(database: Rig, job_id: int) -> list[Deed]:
    """Give what was done to a job, newest first."""
    return [noted.deed for noted in database.audit.about(f"job {job_id}")]


def test_a_retry_is_kept_in_the_audit(database: Rig) -> None:
    job_id = dead_job(database)

    database.fetches.retry(job_id, RETRY)

    assert deeds(database, job_id) == [RETRY]


def test_a_refused_retry_is_not_kept(database: Rig) -> None:
    job_id = dead_job(database)
    database.ask(reason=FetchReason.SCHEDULE)

    with pytest.raises(Refused):
        database.fetches.retry(job_id, RETRY)

    assert deeds(database, job_id) == []


def test_a_discarded_job_stays_dead_and_its_fetch_as_it_ended(database: Rig) -> None:
    job_id = dead_job(database)
    before = database.row(job_id)

    assert database.fetches.discard(job_id, DISCARD)

    assert database.row(job_id) == before
    assert database.fetches.get(before.fetch_id).state is FetchState.FAILED
    assert deeds(database, job_id) == [DISCARD]


def test_discarding_again_changes_nothing(database: Rig) -> None:
    job_id = dead_job(database)
    database.fetches.discard(job_id, DISCARD)

    assert not database.fetches.discard(job_id, DISCARD)

    assert deeds(database, job_id) == [DISCARD]


def test_only_a_dead_job_can_be_discarded(database: Rig) -> None:
    job_id = database.queued()

    for one in (job_id, 999_999):
        with pytest.raises(NotFound):
            database.fetches.discard(one, DISCARD)

    assert deeds(database, job_id) == []


def test_a_discarded_job_can_be_retried_and_discarded_again(database: Rig) -> None:
    job_id = dead_job(database)
    database.fetches.discard(job_id, DISCARD)

    database.fetches.retry(job_id, RETRY)
    state = database.row(job_id).state
    database.jobs.settle([(database.lease(job_id), Dead("wrong shape"))])

    assert state is JobState.QUEUED
    assert database.fetches.discard(job_id, DISCARD)
    assert deeds(database, job_id) == [DISCARD, RETRY, DISCARD]
