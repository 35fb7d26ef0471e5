"""Connections: what counts as no answer, what stays a bug, and how long anything may wait."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, exc, text

from ppcfetch.adapters.database.engine import make_engine, translated
from ppcfetch.adapters.database.fetches import PostgresFetches
from ppcfetch.errors import ConfigurationError, DatabaseUnavailable
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason
from ppcfetch.model.job import JobState
from ppcfetch.ports import Request
from tests.contract.database_rig import RealRig
from tests.cutting_proxy import cutting_proxy
from tests.servers import free_port, short_folder
from tests.waiting import wait_until

Make = Callable[..., Engine]


@pytest.fixture
def make(postgres: RealRig) -> Iterator[Make]:
    """Makes engines on the test's database and disposes of them."""
    made: list[Engine] = []
    url = postgres.engine.url.render_as_string(hide_password=False)

    def engine(**options: object) -> Engine:
        wanted: dict[str, object] = {"application": "engine", "pool_size": 1, **options}
        made.append(make_engine(url, **wanted))  # type: ignore[arg-type]
        return made[-1]

    yield engine
    for one in made:
        one.dispose()


def run(engine: Engine, *statements: str) -> None:
    """Run statements in one transaction, as an adapter does."""
    with translated(), engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))


def test_a_server_that_is_not_there_gives_no_answer() -> None:
    url = f"postgres://someone:opensesame@127.0.0.1:{free_port()}/nowhere"
    engine = make_engine(url, application="engine", pool_size=1)

    with pytest.raises(DatabaseUnavailable) as caught:
        run(engine, "SELECT 1")

    assert "opensesame" not in str(caught.value)


def test_a_refused_password_is_not_told(postgres: RealRig) -> None:
    url = postgres.engine.url.set(password="opensesame")
    engine = make_engine(
        url.render_as_string(hide_password=False), application="engine", pool_size=1
    )

    with pytest.raises(DatabaseUnavailable) as caught:
        run(engine, "SELECT 1")

    assert "opensesame" not in str(caught.value)


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param(["SELECT pg_terminate_backend(pg_backend_pid())"], id="57P01"),
        pytest.param(["SET statement_timeout = 1", "SELECT pg_sleep(9)"], id="57014"),
        pytest.param(["SET TRANSACTION READ ONLY", "DELETE FROM jobs"], id="25006"),
        *(
            pytest.param(
                [f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{state}'; END $$"], id=state
            )
            for state in ("08006", "25P03", "40P01", "40001", "53100", "53300", "55P03", "57P03")
        ),
    ],
)
def test_errors_that_pass_by_themselves_are_no_answer(make: Make, statements: list[str]) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        run(make(), *statements)

    assert isinstance(caught.value.__cause__, exc.DBAPIError)


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("SELECT nothing FROM nowhere", exc.ProgrammingError),
        ("INSERT INTO facts (name, value) VALUES ('epoch', 'again')", exc.IntegrityError),
        ("SELECT 1 / 0", exc.DataError),
    ],
)
def test_our_own_mistakes_stay_what_they_are(
    make: Make, statement: str, error: type[exc.DBAPIError]
) -> None:
    with pytest.raises(error):
        run(make(), statement)


def test_an_error_does_not_show_the_values_of_its_statement(make: Make) -> None:
    values = {"zero": 0, "secret": "opensesame"}

    with pytest.raises(exc.DataError) as caught, make().begin() as connection:
        connection.execute(text("SELECT 1 / CAST(:zero AS integer), :secret"), values)

    assert "opensesame" not in str(caught.value)


def test_a_connection_that_broke_is_replaced(make: Make) -> None:
    engine = make()
    with pytest.raises(DatabaseUnavailable):
        run(engine, "SELECT pg_terminate_backend(pg_backend_pid())")

    run(engine, "SELECT 1")


def test_a_busy_pool_is_no_answer_long_before_the_lease_is_over(make: Make) -> None:
    engine = make(lease=timedelta(milliseconds=400))

    with engine.connect(), pytest.raises(DatabaseUnavailable, match="busy"):
        run(engine, "SELECT 1")


def test_a_process_that_sleeps_inside_a_transaction_loses_it_before_its_lease(
    make: Make, postgres: RealRig
) -> None:
    job_id = postgres.queued()
    engine = make(lease=timedelta(milliseconds=600))

    with pytest.raises(DatabaseUnavailable):
        sleep_inside_a_transaction(engine, postgres, meanwhile=lambda: postgres.lease(job_id))

    job = postgres.row(job_id)
    assert (job.state, job.error) == (JobState.RUNNING, None)


def sleep_inside_a_transaction(
    engine: Engine, postgres: RealRig, *, meanwhile: Callable[[], object]
) -> None:
    """Lock all jobs and say nothing until the database has had enough, then go on."""
    with translated(), engine.begin() as connection:
        connection.execute(text("UPDATE jobs SET error = 'asleep'"))
        wait_until(lambda: not idle(postgres), describe="the database ends the transaction")
        meanwhile()
        connection.execute(text("SELECT 1"))


def idle(postgres: RealRig) -> bool:
    """Tell whether a connection of the engine under test waits inside a transaction."""
    return bool(
        postgres.run(
            "SELECT FROM pg_stat_activity WHERE application_name = 'engine'"
            " AND datname = current_database() AND state LIKE 'idle in transaction%'"
        )
    )


def test_a_lost_answer_to_commit_is_no_answer_and_the_request_is_stored(
    postgres: RealRig,
) -> None:
    address = postgres.engine.url
    shop = Request(DomainName("shop.example"), FetchReason.PERSON)
    with short_folder() as folder, cutting_proxy(folder, Path(str(address.query["host"]))) as proxy:
        through = address.update_query_dict({"host": str(folder)})
        engine = make_engine(
            through.render_as_string(hide_password=False), application="engine", pool_size=1
        )
        fetches = PostgresFetches(engine)
        proxy.lose_answer_to(b"COMMIT\0")

        with pytest.raises(DatabaseUnavailable) as caught:
            fetches.request(shop)
        again = fetches.request(shop)
        engine.dispose()

    lost = caught.value.__cause__
    assert isinstance(lost, exc.OperationalError)
    assert isinstance(lost.orig, psycopg.Error)
    assert lost.orig.sqlstate is None
    assert (again.joined, len(again.jobs)) == (True, 1)


def test_every_connection_speaks_utc_and_says_who_it_is(make: Make) -> None:
    with make().connect() as connection:
        shown = connection.execute(
            text("SELECT current_setting('timezone'), current_setting('application_name')")
        ).one()

    assert tuple(shown) == ("UTC", "engine")


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_each_usual_way_to_write_the_address_is_understood(scheme: str) -> None:
    engine = make_engine(f"{scheme}://someone@shop.example/x", application="engine", pool_size=1)

    assert engine.url.drivername == "postgresql+psycopg"


@pytest.mark.parametrize("url", ["mysql://someone:opensesame@shop.example/x", "opensesame"])
def test_an_address_of_something_else_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make_engine(url, application="engine", pool_size=1)

    assert "opensesame" not in str(caught.value)


def test_a_reader_cannot_write(make: Make) -> None:
    # Told apart from a bug of ours by nobody: a standby that is not promoted yet says the same.
    with pytest.raises(DatabaseUnavailable, match="read-only"):
        run(make(read_only=True), "INSERT INTO domains (domain) VALUES ('shop.example')")


def test_a_reader_cannot_write_by_asking_for_it(make: Make) -> None:
    with pytest.raises(exc.ProgrammingError, match="permission denied"):
        run(
            make(read_only=True),
            "SET TRANSACTION READ WRITE",
            "INSERT INTO domains (domain) VALUES ('shop.example')",
        )


def test_a_reader_reads_every_table_but_not_the_password_hashes(
    make: Make, postgres: RealRig
) -> None:
    reader = make(read_only=True)
    tables = [
        row.tablename
        for row in postgres.run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    ]

    run(reader, *(f"SELECT count(*) FROM {table}" for table in tables))  # noqa: S608 -- names of ours

    assert len(tables) > 10
    with pytest.raises(exc.ProgrammingError, match="permission denied"):
        run(reader, "SELECT password_hash FROM users")
