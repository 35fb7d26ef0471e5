"""A crawler over the whole site: GET and HEAD change nothing and cause no work."""

import signal

import httpx
from bs4 import BeautifulSoup
from redis import Redis

from tests.e2e.plant import Plant

MOST_PAGES = 150
PREFETCH = {"purpose": "prefetch", "sec-purpose": "prefetch;prerender"}


def counts(plant: Plant) -> dict[str, int]:
    """Count the rows of every table and the messages."""
    names = [row["relname"] for row in plant.query("SELECT relname FROM pg_stat_user_tables")]
    rows = {name: plant.one(f"SELECT count(*) FROM {name}") for name in names}  # noqa: S608 - of the catalogue
    return rows | {"messages": plant.messages()}


def keys(plant: Plant) -> set[str]:
    """Give all keys of ours in Redis but the rate limits'."""
    with Redis.from_url(plant.redis, decode_responses=True) as client:
        return {key for key in client.scan_iter() if not key.startswith("LIMITS")}


def crawl(client: httpx.Client) -> set[str]:
    """Open every page that is linked from anywhere, twice, with GET and with HEAD."""
    seen: set[str] = set()
    waiting = ["/", "/domains/never-asked.example", "/domains/ads-250.example/progress"]
    while waiting and len(seen) < MOST_PAGES:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        client.head(path)
        answer = client.get(path, headers=PREFETCH)
        assert answer.status_code < 500, path
        for link in BeautifulSoup(answer.text, "lxml").select("a[href], form[action]"):
            target = str(link.get("href") or link.get("action")).partition("#")[0]
            if target.startswith("/") and not target.startswith("//"):
                waiting.append(target)
    return seen


def test_a_crawl_with_get_and_head_causes_no_rows_and_no_messages(plant: Plant) -> None:
    """Signed in and signed out, over stale, unknown and held domains."""
    visitor = plant.visitor()
    worker = plant.start_worker()
    visitor.refresh("ads-250.example")
    plant.wait_for_end("ads-250.example")
    worker.signal(signal.SIGTERM)
    worker.wait()
    before, keys_before = counts(plant), keys(plant)

    with httpx.Client(base_url=plant.site, timeout=30) as stranger:
        seen = crawl(stranger)
    seen_signed_in = crawl(visitor.client)

    assert len(seen) > 50
    assert len(seen_signed_in) > 50
    assert counts(plant) == before
    assert keys(plant) == keys_before
