"""A worker's connections: which are asked whether they live before they are lent again."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, create_engine, text

from ppcfetch.adapters.database.driver import lent
from ppcfetch.adapters.database.engine import translated
from ppcfetch.adapters.database.resting import REST_SECONDS, ping_after_rest
from ppcfetch.errors import DatabaseUnavailable
from tests.contract.database_rig import RealRig


class Clock:
    """Monotonic seconds that pass when told."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(postgres: RealRig, clock: Clock) -> Iterator[Engine]:
    made = create_engine(postgres.engine.url, pool_size=2, max_overflow=0, pool_use_lifo=True)
    ping_after_rest(made, now=clock)
    yield made
    made.dispose()


def fill(engine: Engine) -> list[int]:
    """Open both connections of the pool and give who serves them."""
    with engine.connect() as one, engine.connect() as other:
        return [server_of(one), server_of(other)]


def server_of(connection: Connection) -> int:
    return int(connection.scalar(text("SELECT pg_backend_pid()")) or 0)


def end(postgres: RealRig, servers: list[int]) -> None:
    """End the servers of connections, as a restart of the database does."""
    with postgres.engine.connect() as connection:
        for server in servers:
            connection.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": server})


def asked_last(postgres: RealRig, servers: list[int]) -> list[object]:
    """Give when each server of a connection was last asked something."""
    query = text("SELECT query_start FROM pg_stat_activity WHERE pid = ANY(:pids) ORDER BY pid")
    with postgres.engine.connect() as connection:
        return list(connection.scalars(query, {"pids": servers}))


def ask(engine: Engine) -> int:
    with translated(), lent(engine) as raw:
        return int(raw.execute("SELECT 1").fetchall()[0][0])


def test_a_connection_that_was_lost_while_it_rested_is_replaced_unseen(
    postgres: RealRig, engine: Engine, clock: Clock
) -> None:
    end(postgres, fill(engine))
    clock.seconds += REST_SECONDS

    assert ask(engine) == 1


def test_a_connection_used_a_moment_ago_is_not_asked_again(
    postgres: RealRig, engine: Engine, clock: Clock
) -> None:
    servers = fill(engine)
    before = asked_last(postgres, servers)
    clock.seconds += REST_SECONDS / 2

    with lent(engine):
        pass

    assert asked_last(postgres, servers) == before


def test_after_a_restart_one_step_fails_and_no_other(
    postgres: RealRig, engine: Engine, clock: Clock
) -> None:
    end(postgres, fill(engine))
    clock.seconds += 1

    with pytest.raises(DatabaseUnavailable):
        ask(engine)
    clock.seconds += 1

    with engine.connect() as one, engine.connect() as other:
        assert server_of(one) != server_of(other)


def test_what_is_not_committed_is_rolled_back(engine: Engine) -> None:
    with lent(engine) as raw:
        raw.execute("BEGIN")
        raw.execute("CREATE TABLE left_open (number int)")
    with engine.connect() as connection:
        found = connection.scalar(text("SELECT to_regclass('left_open')"))

    assert found is None
