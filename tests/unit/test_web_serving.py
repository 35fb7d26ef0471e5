"""How the site is started, and how it judges its own health."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest
from structlog.testing import capture_logs

from ppcfetch.errors import DatabaseUnavailable, StreamUnavailable
from ppcfetch.model.health import DatabaseFacts
from tests.site import ADA, SITE, FakeSite, send
from tests.waiting import wait_until
from web.checks import Checks
from web.serve import gunicorn_arguments
from web.services import Health

FACTS = DatabaseFacts(
    version="18.4",
    revision="0003",
    head="0003",
    ahead=False,
    offset=timedelta(0),
    reader_role=True,
    durable=True,
)
A_MOMENT = timedelta(milliseconds=20)
GOOD = Health(database=True, schema=True, stream=True)


@pytest.fixture
def hung() -> Iterator[Event]:
    """Something that gives no answer while the test lasts."""
    event = Event()
    yield event
    event.set()


def away() -> DatabaseFacts:
    raise DatabaseUnavailable("no answer")


def silent() -> str:
    raise StreamUnavailable("no answer")


def test_everything_that_answers_is_well() -> None:
    assert Checks(lambda: FACTS, lambda: "epoch")() == GOOD


def test_an_emptied_stream_is_no_missing_one() -> None:
    assert Checks(lambda: FACTS, lambda: None)() == GOOD


def test_a_missing_part_is_told_apart() -> None:
    old = replace(FACTS, revision="0002")
    newer = replace(FACTS, revision="0004", ahead=True)

    assert Checks(lambda: newer, lambda: "e")() == GOOD
    assert Checks(away, lambda: "e")() == Health(database=False, schema=False, stream=True)
    assert Checks(lambda: FACTS, silent)() == replace(GOOD, stream=False)
    assert Checks(lambda: old, lambda: "e")() == replace(GOOD, schema=False)


def test_what_hangs_counts_as_away_and_questions_to_it_do_not_pile_up(hung: Event) -> None:
    asked: list[int] = []

    def hangs() -> DatabaseFacts:
        asked.append(1)
        hung.wait()
        return FACTS

    checks = Checks(hangs, lambda: "epoch", patience=A_MOMENT)

    found = [checks() for _ in range(5)]

    assert found == [Health(database=False, schema=False, stream=True)] * 5
    assert len(asked) == 1

    polls: list[Health] = []

    def is_well() -> bool:
        polls.append(checks())
        return polls[-1] == GOOD

    hung.set()
    wait_until(is_well, describe="it answers again")
    assert len(asked) <= 1 + len(polls)


def test_an_answer_holds_for_moments_and_a_missing_one_is_asked_for_again() -> None:
    now = [100.0]
    asked: list[float] = []

    def answers_at_first() -> DatabaseFacts:
        asked.append(now[0])
        return FACTS if now[0] < 102 else away()

    checks = Checks(answers_at_first, lambda: "epoch", now=lambda: now[0])
    found = []

    for now[0] in (100.0, 102.9, 103.1, 103.2):
        found.append(checks().database)

    assert found == [True, True, False, False]
    assert asked == [100.0, 103.1, 103.2]


def test_an_answer_that_came_too_late_counts_for_the_next_who_asks(hung: Event) -> None:
    now = [100.0]
    asked: list[int] = []

    def late() -> DatabaseFacts:
        asked.append(1)
        hung.wait()
        return FACTS

    checks = Checks(late, lambda: "epoch", patience=A_MOMENT, now=lambda: now[0])
    before = checks()

    hung.set()
    wait_until(lambda: checks() == GOOD, describe="the late answer is taken")

    assert not before.database
    assert len(asked) == 1


def test_why_the_site_is_not_ready_is_logged_but_not_at_every_question() -> None:
    now = [100.0]
    old = replace(FACTS, revision="0002")
    gone = Checks(away, silent, now=lambda: now[0])
    unfit = Checks(lambda: old, lambda: "epoch", now=lambda: now[0])

    with capture_logs() as logs:
        for now[0] in (100.0, 110.0, 131.0):
            gone()
        unfit()
        Checks(lambda: FACTS, silent)()

    assert [(log["event"], log["log_level"]) for log in logs] == [("site.not_ready", "warning")] * 3
    assert [log["database"] for log in logs] == [
        "no answer",
        "no answer",
        "schema at 0002, the code wants 0003",
    ]
    assert [log["stream"] for log in logs] == ["no answer", "no answer", ""]


def test_the_log_says_what_gave_no_answer_in_time(hung: Event) -> None:
    checks = Checks(lambda: away() if hung.wait() else FACTS, lambda: "e", patience=A_MOMENT)

    with capture_logs() as logs:
        checks()

    assert logs[0]["database"] == "no answer within 0.02 s"


@pytest.mark.parametrize(("host", "bind"), [("127.0.0.1", "127.0.0.1:8000"), ("::1", "[::1]:8000")])
def test_gunicorn_is_told_address_processes_and_threads(host: str, bind: str) -> None:
    arguments = gunicorn_arguments(host, 8000, workers=2, threads=8)

    assert arguments[0] == "--config"
    assert arguments[2:] == [
        "--bind",
        bind,
        "--workers",
        "2",
        "--threads",
        "8",
        "web.serve:application(threads=8)",
    ]


def test_when_redis_is_away_tries_are_counted_in_the_process() -> None:
    site = FakeSite(replace(SITE, limiter_storage="unix:///nowhere/redis.sock"))
    browser = site.visitor()

    tries = [send(browser, "/login", email=ADA.email, password="no") for _ in range(6)]

    assert [answer.status_code for answer in tries] == [422] * 5 + [429]
