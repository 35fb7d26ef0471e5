"""Rate limits on a real store: shared by all processes, under our prefix, and never an outage."""

from dataclasses import replace

import redis

from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from tests.site import ADA, SITE, FakeSite, send
from web.limits import KEYS


def tries(site: FakeSite, count: int) -> list[int]:
    browser = site.visitor()
    answers = [send(browser, "/login", email=ADA.email, password="no") for _ in range(count)]
    return [answer.status_code for answer in answers]


def test_two_processes_count_together(redis_url: str) -> None:
    config = replace(SITE, limiter_storage=redis_url)

    first, second = tries(FakeSite(config), 3), tries(FakeSite(config), 3)

    assert (first, second) == ([422] * 3, [422, 422, 429])


def test_counts_live_under_the_one_prefix_and_vanish_by_themselves(redis_url: str) -> None:
    tries(FakeSite(replace(SITE, limiter_storage=redis_url)), 1)

    with redis.from_url(redis_url) as client:
        keys = list(client.scan_iter("*"))
        assert keys
        assert all(key.decode().startswith(f"{KEYS}:") for key in keys)
        assert all(client.ttl(key) > 0 for key in keys)


def test_a_store_that_goes_away_stops_nobody_and_counting_goes_on(
    redis_url: str, valkey_server: EmbeddedValkey
) -> None:
    site = FakeSite(replace(SITE, limiter_storage=redis_url))
    tries(site, 1)

    valkey_server.stop()

    assert tries(site, 6) == [422] * 5 + [429]
