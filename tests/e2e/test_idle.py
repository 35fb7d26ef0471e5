"""A worker with nothing to do for many leases: quiet, on the same connections, and ready."""

from redis import Redis

from tests.e2e.plant import LEASE_SECONDS, Plant
from tests.e2e.test_fetches import DOMAIN
from tests.waiting import wait_until

LEASES = 10


def test_an_idle_worker_keeps_its_connections_and_logs_no_trouble(plant: Plant) -> None:
    visitor = plant.visitor()
    worker = plant.start_worker()
    visitor.refresh("ads-250.example")
    plant.wait_for_end("ads-250.example")
    said, before, turn = len(worker.events()), connections(plant), sweepers_turn(plant)

    wait_until(
        lambda: sweepers_turn(plant) - turn >= LEASES * LEASE_SECONDS,
        describe=f"the worker has swept for {LEASES} leases",
        timeout=LEASES * LEASE_SECONDS * 5,
    )
    idle, after = worker.events()[said:], connections(plant)
    visitor.refresh(DOMAIN)
    plant.wait_for_end(DOMAIN)

    assert before <= after, "a connection was lost and made again"
    assert [e for e in idle if e.get("level") in {"warning", "error", "critical"}] == []
    assert {event["domain"] for event in worker.events("lease.taken")} == {
        "ads-250.example",
        DOMAIN,
    }


def connections(plant: Plant) -> set[str]:
    """Give what identifies each connection of workers, to Redis by id, to PostgreSQL by process."""
    with Redis.from_url(plant.redis) as client:
        own = client.client_id()
        redis = {f"redis {one['id']}" for one in client.client_list() if int(one["id"]) != own}
    rows = plant.query(
        "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'ppcfetch%%interactive'"
        " AND datname = current_database()"
    )
    return redis | {f"postgres {row['pid']}" for row in rows}


def sweepers_turn(plant: Plant) -> float:
    """Give until when the sweeper has its turn, in seconds of the database clock."""
    return float(plant.one("SELECT coalesce(extract(epoch FROM max(expires_at)), 0) FROM turns"))
