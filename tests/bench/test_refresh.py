"""What a refresh of two million ads costs when one in a hundred was shown since."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import Engine

from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.model.fetch import FetchKind, FetchState
from tests.bench.refresh_rig import PAGE, HeldDomain
from tests.servers import Databases

ADS = 2_000_000
SHOWN = ADS // 100
TOP_UP = 1
"""Behind a refresh of several pages the first one is read again."""


@pytest.fixture(scope="module")
def url(databases: Databases) -> Iterator[str]:
    """Give a database for all tests of this file: two million rows are loaded once."""
    made = databases.migrated()
    yield made
    databases.drop(made)


@pytest.fixture(scope="module")
def engine(url: str) -> Iterator[Engine]:
    """Give connections as a worker has them."""
    made = make_engine(url, application="bench", pool_size=2, lease=timedelta(seconds=60))
    yield made
    made.dispose()


@pytest.fixture(scope="module")
def held(engine: Engine, url: str) -> HeldDomain:
    """Give a domain that is held whole."""
    return HeldDomain(engine, url, f"ads-{ADS}.example")


@pytest.mark.parametrize("minutes", [0, 15])
def test_a_refresh_asks_for_what_was_shown_since(held: HeldDomain, minutes: int) -> None:
    held.show_again(SHOWN)
    before = len(held.archive.asked)

    fetch = held.refresh(timedelta(minutes=minutes))

    assert fetch.until is not None
    asked = len(held.archive.asked) - before
    changed = SHOWN // PAGE
    ideal = held.shown_since(fetch.until) // PAGE + 1
    print(
        f"\nrefresh, overlap {minutes} min: {asked:,} pages asked for, {ideal:,} is ideal"
        f" ({asked / ideal:.3f} times); {changed:,} pages of ads shown since,"
        f" {ADS // PAGE:,} a full walk"
    )
    assert (fetch.state, fetch.kind, fetch.new) == (FetchState.DONE, FetchKind.REFRESH, 0)
    assert asked == ideal + TOP_UP
