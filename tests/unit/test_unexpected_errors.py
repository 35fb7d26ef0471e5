"""What nobody foresaw is kept for operators, and strangers do not get to read it."""

from datetime import timedelta

import pytest

from ppcfetch.errors import ArchiveUnavailable
from ppcfetch.model.fetch import FetchState
from ppcfetch.model.outcome import Dead, RetryLater, decide
from ppcfetch.model.page import Waiting
from ppcfetch.model.unexpected import HIDDEN, for_strangers
from ppcfetch.model.walk_words import told_of_dead
from tests.builders import a_job
from tests.site import DOMAIN, NOW, FakeSite, a_fetch, a_page

SECRET = "SELECT key FROM accounts WHERE host = '10.0.0.7': no"


class Odd(Exception):
    """An error of somebody else's."""


def stored(error: Exception, attempts: int = 0) -> str:
    outcome = decide(error, a_job(attempts=attempts), max_attempts=8, jitter=0.5)
    assert isinstance(outcome, RetryLater | Dead)
    return outcome.error


@pytest.mark.parametrize("attempts", [0, 7])
@pytest.mark.parametrize("error", [RuntimeError(SECRET), Odd(SECRET), KeyError(SECRET)])
def test_an_unexpected_text_is_stored_whole_and_hidden(error: Exception, attempts: int) -> None:
    text = stored(error, attempts)

    assert "SELECT key" in text
    assert for_strangers(text).endswith(HIDDEN)
    assert "SELECT" not in for_strangers(text)


def test_which_part_it_befell_may_be_known() -> None:
    text = told_of_dead("video ads", stored(RuntimeError(SECRET), attempts=7), dead=1)

    assert for_strangers(text) == f"video ads: gave up after 8 attempts: {HIDDEN}"


@pytest.mark.parametrize(
    "text",
    [
        f"OperationalError: {SECRET}",
        f"error: {SECRET}",
        f"video ads: gave up after 8 attempts: UndefinedTable: {SECRET}",
    ],
)
def test_what_was_stored_before_there_was_a_mark_is_hidden_too(text: str) -> None:
    assert "SELECT" not in for_strangers(text)


@pytest.mark.parametrize("attempts", [0, 7])
def test_our_own_texts_are_shown(attempts: int) -> None:
    failed = "the connection to the archive at 127.0.0.1 failed: [Errno 111] Connection refused"
    text = stored(ArchiveUnavailable(failed), attempts)

    assert for_strangers(text) == text
    assert for_strangers("started 5 times without storing a page").startswith("started 5")
    assert for_strangers(None) == ""


def test_no_page_shows_an_unexpected_text() -> None:
    site = FakeSite()
    error = stored(RuntimeError(SECRET), attempts=7)
    resting = Waiting(resumes_at=NOW + timedelta(minutes=4), error=error)
    failed = a_fetch(FetchState.FAILED, id=40, error=error)
    running = a_fetch(FetchState.ACTIVE)
    site.catalogue.hold(a_page(running, failed, waiting=resting))
    browser = site.visitor()

    pages = [
        browser.get(f"/domains/{DOMAIN}{rest}").text for rest in ("", "/progress", "/fetches/40")
    ]

    assert [HIDDEN in page for page in pages] == [True] * 3
    assert not any("SELECT" in page or "RuntimeError" in page for page in pages)
