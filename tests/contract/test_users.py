"""Accounts and log-ins on the real database."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import Engine, exc, text

from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.adapters.database.sessions import Sessions, hash_token, new_token
from ppcfetch.adapters.database.users import Users
from ppcfetch.errors import DatabaseUnavailable, NotFound, Refused
from tests.contract.pages_rig import rows

DAY = timedelta(days=1)


@pytest.fixture
def writer(database_url: str) -> Iterator[Engine]:
    made = make_engine(database_url, application="test", pool_size=2)
    yield made
    made.dispose()


@pytest.fixture
def reader(database_url: str) -> Iterator[Engine]:
    made = make_engine(database_url, application="test", pool_size=2, read_only=True)
    yield made
    made.dispose()


def test_an_account_is_found_by_its_address_however_it_is_written(writer: Engine) -> None:
    users = Users(writer)

    added = users.add(" Ada@Example.COM ", "hash", operator=True)

    found = users.by_email("aDa@example.com")
    assert found is not None
    assert found.user == added
    assert (added.email, added.operator, found.password_hash) == ("ada@example.com", True, "hash")


def test_an_address_has_one_account(writer: Engine) -> None:
    users = Users(writer)
    users.add("ada@example.com", "hash")

    with pytest.raises(Refused, match=r"an account for ada@example\.com already"):
        users.add("ADA@example.com", "other")

    kept = users.by_email("ada@example.com")
    assert kept is not None
    assert kept.password_hash == "hash"


def test_an_unknown_address_has_no_account(writer: Engine) -> None:
    assert Users(writer).by_email("nobody@example.com") is None
    assert Users(writer).by_email("no address\0") is None


def test_a_new_password_ends_every_log_in(writer: Engine, reader: Engine) -> None:
    users, sessions = Users(writer), Sessions(reader, writer)
    ada, bob = users.add("ada@example.com", "hash"), users.add("bob@example.com", "hash")
    for number, user in enumerate((ada, ada, bob)):
        sessions.begin(bytes([number]) * 32, user.id, DAY)

    users.set_password(ada.id, "new")

    known = [sessions.user_of(bytes([number]) * 32) for number in range(3)]
    assert known == [None, None, bob]
    kept = users.by_email("ada@example.com")
    assert kept is not None
    assert kept.password_hash == "new"


def test_the_password_of_nobody_cannot_be_set(writer: Engine) -> None:
    with pytest.raises(NotFound):
        Users(writer).set_password(7, "new")


def test_a_token_leads_to_its_user_and_is_not_kept_itself(writer: Engine, reader: Engine) -> None:
    ada = Users(writer).add("ada@example.com", "hash", operator=True)
    sessions = Sessions(reader, writer)
    token = new_token()

    sessions.begin(hash_token(token), ada.id, DAY)

    assert sessions.user_of(hash_token(token)) == ada
    assert sessions.user_of(hash_token(new_token())) is None
    (kept,) = rows(writer, "SELECT * FROM sessions")
    assert token.encode() not in b"".join(v for v in kept.values() if isinstance(v, bytes))


def test_a_log_in_ends_at_its_age_and_looking_does_not_lengthen_it(
    writer: Engine, reader: Engine
) -> None:
    ada = Users(writer).add("ada@example.com", "hash")
    sessions = Sessions(reader, writer)
    sessions.begin(b"a" * 32, ada.id, DAY)
    before = rows(writer, "SELECT * FROM sessions")

    assert sessions.user_of(b"a" * 32) == ada

    assert rows(writer, "SELECT * FROM sessions") == before
    with writer.begin() as connection:
        connection.execute(text("UPDATE sessions SET expires_at = now()"))
    assert sessions.user_of(b"a" * 32) is None


def test_log_ins_can_be_ended_one_by_one_elsewhere_and_all(writer: Engine, reader: Engine) -> None:
    ada = Users(writer).add("ada@example.com", "hash")
    sessions = Sessions(reader, writer)
    keys = [bytes([number]) * 32 for number in range(4)]
    for key in keys:
        sessions.begin(key, ada.id, DAY)

    sessions.end(keys[0])
    assert [sessions.user_of(key) for key in keys] == [None, ada, ada, ada]

    assert sessions.end_others(ada.id, keep=keys[1]) == 2
    assert [sessions.user_of(key) for key in keys] == [None, ada, None, None]

    assert sessions.end_all(ada.id) == 1
    assert rows(writer, "SELECT * FROM sessions") == []


def test_a_reader_sees_no_password_hash(reader: Engine) -> None:
    with pytest.raises(exc.ProgrammingError, match="permission denied"):
        Users(reader).by_email("ada@example.com")


def test_a_reader_can_begin_no_log_in(reader: Engine) -> None:
    with pytest.raises(DatabaseUnavailable, match="read-only"):
        Sessions(reader, reader).begin(b"a" * 32, 1, DAY)
