"""Which passwords are taken, and how they are kept."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from threading import Event, Thread

import pytest
from argon2 import PasswordHasher

from ppcfetch.adapters.accounts.passwords import Passwords
from ppcfetch.errors import Refused

GOOD = "nine green herons wade"


@pytest.fixture(scope="module")
def passwords() -> Passwords:
    return Passwords()


@pytest.mark.parametrize(
    "password",
    [
        GOOD,
        "kq7#Vd2!mZp0",
        "пароль для моего сайта",
        "e" * 3 + "abcdxyz" + "q" * 246,
        "password of my grandfather's boat",
        "            leading and trailing            ",
    ],
)
def test_any_long_text_that_nobody_would_try_is_taken(passwords: Passwords, password: str) -> None:
    passwords.check(password)


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("elevenchars", "at least 12"),
        ("x1y2z3" * 43, "at most 256"),
        ("passwordpassword", "first that anybody"),
        ("Password1234!", "first that anybody"),
        ("P@$$w0rd1234", "first that anybody"),
        ("qwertyuiop123", "first that anybody"),
        ("123456789012", "first that anybody"),
        ("abcdefghijkl", "first that anybody"),
        ("aaaaaaaaaaaa", "first that anybody"),
        ("121212121212", "first that anybody"),
        ("correct horse battery staple", "first that anybody"),
        ("1qaz2wsx3edc4rfv", "first that anybody"),
        ("20261130!!!!", "first that anybody"),
        ("Ppcfetch2026!", "first that anybody"),
    ],
)
def test_a_short_endless_or_common_password_is_refused(
    passwords: Passwords, password: str, why: str
) -> None:
    with pytest.raises(Refused, match=why):
        passwords.check(password)


def test_a_hash_is_argon2id_of_the_strength_asked_for_and_salted(passwords: Passwords) -> None:
    one, other = passwords.hash(GOOD), passwords.hash(GOOD)

    assert one.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert one != other
    assert GOOD not in one


def test_only_the_very_password_is_right(passwords: Passwords) -> None:
    kept = passwords.hash(GOOD)

    assert passwords.verify(kept, GOOD)
    assert not passwords.verify(kept, GOOD.upper())
    assert not passwords.verify(kept, GOOD + " ")
    assert not passwords.verify(None, GOOD)
    assert not passwords.verify(None, "the password of nobody")
    assert not passwords.verify("not a hash", GOOD)


def test_a_hash_made_with_other_numbers_is_outdated(passwords: Passwords) -> None:
    weak = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(GOOD)

    assert passwords.verify(weak, GOOD)
    assert passwords.is_outdated(weak)
    assert passwords.is_outdated("not a hash")
    assert not passwords.is_outdated(passwords.hash(GOOD))


class Slow(Passwords):
    """Keeps its seat until it is told to go on."""

    def __init__(self) -> None:
        super().__init__(at_once=2, patience=timedelta(0))
        self.seated, self.go_on = [Event(), Event()], Event()

    def sit(self, number: int) -> None:
        """Take a seat as a long hash does."""
        with self._seat():
            self.seated[number].set()
            self.go_on.wait()


@pytest.fixture
def slow() -> Iterator[Slow]:
    made = Slow()
    with ExitStack() as stack:
        for number in range(2):
            thread = Thread(target=made.sit, args=(number,))
            thread.start()
            stack.callback(thread.join)
        stack.callback(made.go_on.set)
        for seated in made.seated:
            assert seated.wait(10)
        yield made


def test_no_more_than_two_hash_at_once(slow: Slow) -> None:
    with pytest.raises(Refused, match="Too many people"):
        slow.verify(None, GOOD)
    with pytest.raises(Refused, match="Too many people"):
        slow.hash(GOOD)
