"""Why a job is where it is: one row for each thing that can be in its way."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.job_view import JobView
from ppcfetch.model.operation import Pause
from ppcfetch.model.whereabouts import Rhythm, RowFacts, StreamFacts, Whereabouts
from ppcfetch.usecases.explain import explain
from ppcfetch.usecases.explain_words import length
from tests.builders import NOON

RHYTHM = Rhythm(
    lease=timedelta(seconds=60),
    renew=timedelta(seconds=15),
    stall=timedelta(seconds=180),
    sweep=timedelta(seconds=15),
    max_attempts=8,
)
PAUSE = Pause(Pool.BULK, NOON - timedelta(hours=1), "ann", "archive is being moved")
WAITING = Whereabouts(Pool.BULK, "7-0", None, timedelta(0), 0)
IN_HAND = Whereabouts(Pool.BULK, "7-0", "host.bulk.1", timedelta(seconds=20), 2)
REST = timedelta(minutes=10)


def ago(seconds: float) -> Any:
    """Give a moment before noon."""
    return NOON - timedelta(seconds=seconds)


QUEUED = JobView(
    id=12,
    fetch_id=3,
    domain="shop.example",
    pool=Pool.BULK,
    state=JobState.QUEUED,
    created_at=ago(100),
    due_at=ago(90),
)
RUNNING = replace(
    QUEUED,
    state=JobState.RUNNING,
    pages=4,
    holder="host.bulk.1",
    incarnation=9,
    taken_at=ago(50),
    beat_at=ago(5),
    progressed_at=ago(10),
)
RINGING = StreamFacts(message=WAITING)
HELD = StreamFacts(message=IN_HAND, bearer=9)


@pytest.mark.parametrize(
    ("row", "stream", "why", "what_next"),
    [
        # due, and nothing but the line is in the way
        ({}, RINGING, ["next in line"], "a worker takes it as soon as a slot is free"),
        ({"ahead": 1234}, RINGING, ["1,234 ahead of it"], "when they are done"),
        # due, but not on its way to anybody
        ({}, StreamFacts(), ["nothing rings for it yet"], "publishes it within 15 s"),
        ({}, None, ["Redis does not answer"], "start Redis"),
        ({}, replace(RINGING, workers=0), ["no worker of the pool bulk", "next"], "--pool bulk"),
        (
            {},
            replace(RINGING, message=replace(WAITING, pool=Pool.INTERACTIVE)),
            ["in the stream of interactive, its row in bulk"],
            "moves it to bulk",
        ),
        (
            {},
            replace(RINGING, message=IN_HAND),
            ["host.bulk.1 got its message and has not begun"],
            "claims it in 55 s",
        ),
        (
            {},
            replace(RINGING, message=replace(IN_HAND, idle=timedelta(hours=1))),
            ["has not begun"],
            "claims it in 15 s",
        ),
        # somebody or something asked to wait
        (
            {"pause": PAUSE},
            RINGING,
            ["bulk is paused since 2026-11-30 11:00:00 UTC by ann: archive is", "next in line"],
            "ppcfetch resume bulk",
        ),
        ({"pause": replace(PAUSE, reason=None)}, RINGING, ["by ann", "next"], "resume bulk"),
        ({}, replace(RINGING, rest=REST), ["rests until 2026-11-30 12:10", "next"], "put back"),
        (
            {"due_at": ago(-30), "attempts": 2, "error": "cut body"},
            StreamFacts(),
            ["not due until 2026-11-30 12:00:30 UTC: back-off after attempt 2 of 8: cut body"],
            "it is due at 2026-11-30 12:00:30 UTC; a sweep publishes it within 15 s",
        ),
        (
            {"due_at": ago(-30), "error": "429"},
            StreamFacts(rest=REST),
            ["the archive rests until 2026-11-30 12:10:00 UTC: 429"],
            "it is due at",
        ),
        ({"due_at": ago(-30)}, StreamFacts(), ["our own pace asked to wait"], "it is due at"),
        ({"due_at": ago(-30)}, None, ["Redis does not answer", "not due"], "start Redis"),
    ],
)
def test_a_queued_job_says_what_it_waits_for(
    row: dict[str, Any], stream: StreamFacts | None, why: list[str], what_next: str
) -> None:
    told = explain(facts(QUEUED, **row), stream, RHYTHM)

    assert len(told.why) == len(why)
    for reason, words in zip(told.why, why, strict=True):
        assert words in reason
    assert what_next in told.what_next
    assert told.holder is None


@pytest.mark.parametrize(
    ("row", "stream", "why", "what_next"),
    [
        # all is well
        ({}, HELD, [], "it stores page 5"),
        ({}, None, [], "it stores page 5"),
        # its holder may be gone
        ({}, replace(HELD, bearer=None), ["no process bears"], "lapses at 2026-11-30 12:00:55"),
        ({}, replace(HELD, bearer=10), ["as incarnation 9"], "another worker goes on"),
        ({"beat_at": ago(40)}, HELD, ["held by a sleeper: no beat for 40 s"], "12:00:20 UTC"),
        # it goes on, but not as one would wish
        ({"pause": PAUSE}, HELD, ["is paused since"], "handed back"),
        ({}, replace(HELD, rest=REST), ["the archive rests until"], "or is put back"),
        (
            {"progressed_at": ago(100), "taken_at": ago(110)},
            HELD,
            ["no page was stored for 100 s"],
            "without one until 2026-11-30 12:01:20 UTC",
        ),
        (
            {"progressed_at": None, "taken_at": ago(110)},
            HELD,
            ["no page was stored for 110 s"],
            "it is beaten no more",
        ),
        ({"progressed_at": None, "taken_at": None}, HELD, [], "it stores page 5"),
        # the lease has lapsed
        (
            {"beat_at": ago(61)},
            StreamFacts(),
            ["lapsed at 2026-11-30 11:59:59 UTC, and nothing rings for it"],
            "a sweep publishes it within 15 s",
        ),
        ({"beat_at": ago(60)}, RINGING, ["lapsed at"], "goes on from the last stored page"),
        ({"beat_at": ago(61)}, HELD, ["lapsed at"], "claims its message in 55 s"),
        ({"beat_at": ago(61)}, None, ["Redis does not answer", "lapsed"], "start Redis"),
        ({"beat_at": ago(61), "pause": PAUSE}, RINGING, ["paused", "lapsed"], "resume bulk"),
        (
            {"beat_at": ago(61)},
            StreamFacts(workers=0),
            ["no worker of the pool bulk", "nothing rings for it"],
            "ppcfetch worker --pool bulk",
        ),
    ],
)
def test_a_running_job_says_what_is_strange_about_its_lease(
    row: dict[str, Any], stream: StreamFacts | None, why: list[str], what_next: str
) -> None:
    told = explain(facts(RUNNING, **row), stream, RHYTHM)

    assert len(told.why) == len(why)
    for reason, words in zip(told.why, why, strict=True):
        assert words in reason
    assert what_next in told.what_next
    assert told.holder == "host.bulk.1 (incarnation 9)"


@pytest.mark.parametrize(
    ("state", "changes", "why", "what_next"),
    [
        (JobState.DONE, {}, (), "it is over"),
        (JobState.CANCELLED, {}, (), "it is over"),
        (JobState.DEAD, {"error": "wrong shape"}, ("wrong shape",), "ppcfetch dead retry 12"),
        (JobState.DEAD, {}, ("no reason was kept",), "nothing by itself; again from page 1"),
        (
            JobState.DEAD,
            {"error": "wrong shape", "discarded_at": ago(1)},
            ("wrong shape", "put aside by an operator at 2026-11-30 11:59:59 UTC"),
            "ppcfetch dead retry 12",
        ),
    ],
)
def test_a_job_that_has_ended_says_how(
    state: JobState, changes: dict[str, Any], why: tuple[str, ...], what_next: str
) -> None:
    told = explain(facts(QUEUED, state=state, finished_at=ago(9), **changes), None, RHYTHM)

    assert (told.why, told.since) == (why, ago(9))
    assert what_next in told.what_next


@pytest.mark.parametrize(
    ("stream", "place"),
    [
        (None, "unknown: Redis does not answer"),
        (StreamFacts(), "in no stream"),
        (RINGING, "waiting in the stream of bulk (message 7-0)"),
        (HELD, "message 7-0 of bulk is in the hand of host.bulk.1, untouched for 20 s, delivered"),
    ],
)
def test_the_place_is_where_its_message_is(stream: StreamFacts | None, place: str) -> None:
    assert explain(facts(QUEUED), stream, RHYTHM).place.startswith(place)


@pytest.mark.parametrize(
    ("job", "since"),
    [
        (QUEUED, ago(90)),
        (replace(QUEUED, created_at=ago(80)), ago(80)),
        (replace(QUEUED, due_at=ago(-30)), ago(100)),
        (replace(QUEUED, due_at=ago(-30), beat_at=ago(7)), ago(7)),
        (RUNNING, ago(50)),
    ],
)
def test_since_is_as_far_as_the_row_tells(job: JobView, since: Any) -> None:
    assert explain(facts(job), RINGING, RHYTHM).since == since


def test_a_lease_says_how_old_its_last_beat_and_its_last_progress_are() -> None:
    told = explain(facts(RUNNING), HELD, RHYTHM)

    assert (told.beat_age, told.progress_age) == (timedelta(seconds=5), timedelta(seconds=10))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (3.25, "3.2 s"),
        (59.6, "60 s"),
        (119, "119 s"),
        (600, "10 min"),
        (7200, "2 h"),
        (172800, "2 days"),
    ],
)
def test_lengths_are_told_in_their_largest_useful_unit(seconds: float, words: str) -> None:
    assert length(timedelta(seconds=seconds)) == words


def facts(job: JobView, **changes: Any) -> RowFacts:
    """Give a job's facts; changes are of the job, but for ahead and pause."""
    of_pool = {name: changes.pop(name) for name in ("ahead", "pause") if name in changes}
    return RowFacts(replace(job, **changes), NOON, **of_pool)
