"""Servers that stop, lose everything or hang while a fetch is under way."""

import os
import signal

import httpx
from redis import Redis

from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from tests.e2e.plant import Plant, assert_truth
from tests.e2e.test_fetches import DOMAIN, PAGES, TOP_UP
from tests.servers import heal
from tests.waiting import wait_until
from workers.heartbeat import EXIT_STUCK


def test_flushall_in_the_middle_loses_nothing(plant: Plant) -> None:
    """Rows are the truth: what runs goes on, what waits is published again."""
    visitor = plant.visitor()
    plant.behave(latency_ms=80)
    worker = plant.start_worker(threads=1)
    visitor.refresh(DOMAIN)
    plant.wait_for_pages(DOMAIN, 3)
    visitor.refresh("ads-250.example")

    with Redis.from_url(plant.redis) as client:
        client.flushall()
    plant.wait_for_end(DOMAIN)
    plant.wait_for_end("ads-250.example")

    assert worker.events("stream.rebuilt")
    assert_truth(plant, DOMAIN)
    assert_truth(plant, "ads-250.example")
    assert plant.requests()["by_call"]["SearchCreatives"] == PAGES + 3 + 2 * TOP_UP
    wait_until(lambda: plant.messages() == 0, describe="the stream is empty")


def test_a_click_while_redis_is_stopped_succeeds_and_runs_when_it_is_back(
    plant: Plant, valkey_server: EmbeddedValkey
) -> None:
    """The request is in the database; a sweeper rings as soon as there is a door."""
    visitor = plant.visitor()
    worker = plant.start_worker()
    valkey_server.stop()

    answer = visitor.refresh(DOMAIN)
    asked = plant.one("SELECT count(*) FROM fetches WHERE state = 'active'")
    readable = httpx.get(f"{plant.site}/domains/{DOMAIN}")
    heal(valkey_server)
    plant.wait_for_end(DOMAIN)

    assert answer.is_success
    assert (asked, readable.status_code) == (1, 200)
    assert worker.popen.poll() is None
    assert_truth(plant, DOMAIN)


def test_a_database_that_is_away_for_more_than_two_leases_costs_only_time(
    plant: Plant, postgres_server: EmbeddedPostgres
) -> None:
    """Workers pause and go on by themselves; the site says so in plain words."""
    visitor = plant.visitor()
    plant.behave(latency_ms=80)
    worker = plant.start_worker()
    visitor.refresh(DOMAIN)
    plant.wait_for_pages(DOMAIN, 3)

    postgres_server.stop()
    wait_until(
        lambda: httpx.get(f"{plant.site}/domains/{DOMAIN}").status_code == 503,
        describe="the site says that it cannot answer",
    )
    wait_until(
        lambda: worker.events("lease.lost"), describe="the local deadline has passed", timeout=20
    )
    heal(postgres_server)
    plant.wait_for_end(DOMAIN)

    assert worker.popen.poll() is None
    assert_truth(plant, DOMAIN)


def test_a_worker_that_slept_past_its_lease_writes_nothing(plant: Plant) -> None:
    """SIGSTOP, another worker takes over, SIGCONT: the stale write is refused."""
    visitor = plant.visitor()
    plant.behave(latency_ms=80)
    first, second = plant.start_worker(), plant.start_worker()
    visitor.refresh(DOMAIN)
    sleeper, rescuer = plant.holder_and_other(first, second)
    plant.wait_for_pages(DOMAIN, 3)

    sleeper.signal(signal.SIGSTOP)
    wait_until(lambda: rescuer.events("lease.taken"), describe="the job is rescued", timeout=30)
    sleeper.signal(signal.SIGCONT)
    fetch = plant.wait_for_end(DOMAIN)

    wait_until(lambda: sleeper.events("lease.lost", "name.lost"), describe="it has noticed")
    assert fetch["pages"] == PAGES + TOP_UP
    fences = plant.query("SELECT page, fence FROM page_log WHERE job_id = 1 ORDER BY page")
    assert [row["fence"] for row in fences] == sorted(row["fence"] for row in fences)
    assert_truth(plant, DOMAIN)


def test_a_hung_redis_holds_nobody_up_for_long(plant: Plant, valkey_server: EmbeddedValkey) -> None:
    """A server that is suspended answers nothing, not even with an error."""
    visitor = plant.visitor()
    plant.start_worker()
    os.kill(valkey_server.pid, signal.SIGSTOP)

    answer = visitor.refresh(DOMAIN)
    os.kill(valkey_server.pid, signal.SIGCONT)
    plant.wait_for_end(DOMAIN)

    assert answer.is_success
    assert plant.one("SELECT count(*) FROM fetches") == 1
    assert_truth(plant, DOMAIN)


def test_a_worker_that_is_asked_to_stop_ends_though_the_database_hangs(plant: Plant) -> None:
    """No statement waits for ever with the process: what it held is leased again later."""
    visitor = plant.visitor()
    plant.behave(latency_ms=80)
    worker = plant.start_worker()
    visitor.refresh(DOMAIN)
    plant.wait_for_pages(DOMAIN, 3)
    sessions = plant.query(
        "SELECT pid FROM pg_stat_activity"
        " WHERE application_name LIKE 'ppcfetch%%interactive' AND datname = current_database()"
    )

    for session in sessions:
        os.kill(session["pid"], signal.SIGSTOP)
    try:
        worker.signal(signal.SIGTERM)
        code = worker.wait()
    finally:
        for session in sessions:
            os.kill(session["pid"], signal.SIGCONT)
    plant.start_worker()
    plant.wait_for_end(DOMAIN)

    assert sessions
    assert code == EXIT_STUCK
    assert worker.events("worker.stuck")
    assert_truth(plant, DOMAIN)


def test_one_connection_cut_in_a_transaction_is_repaired(plant: Plant) -> None:
    """The write is repeated under the same fence."""
    visitor = plant.visitor()
    plant.behave(latency_ms=50)
    plant.start_worker()
    visitor.refresh(DOMAIN)
    plant.wait_for_pages(DOMAIN, 3)

    cut = plant.query(
        "SELECT pg_terminate_backend(pid) AS cut FROM pg_stat_activity"
        " WHERE application_name LIKE 'ppcfetch interactive%%' AND datname = current_database()"
    )
    fetch = plant.wait_for_end(DOMAIN)

    assert cut
    assert (fetch["pages"], fetch["found"]) == (PAGES + TOP_UP, 2350)
    assert_truth(plant, DOMAIN)


def test_nothing_is_left_idle_in_a_transaction(plant: Plant) -> None:
    """A session that holds a row while it waits for something else would block everybody."""
    visitor = plant.visitor()
    plant.start_worker()
    visitor.refresh(DOMAIN)
    plant.wait_for_end(DOMAIN)

    idle = (
        "SELECT query FROM pg_stat_activity WHERE datname = current_database()"
        " AND state LIKE 'idle in transaction%%'"
    )
    wait_until(lambda: not plant.query(idle), describe="no session is idle in a transaction")
