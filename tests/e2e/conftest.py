"""A plant for each test: servers of the test process, the rest as programs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.plant import Plant


@pytest.fixture
def plant(database_url: str, redis_url: str, tmp_path: Path) -> Iterator[Plant]:
    """Everything but the workers and the site, which a test starts itself."""
    made = Plant(tmp_path, database_url, redis_url)
    try:
        made.start_archive()
        yield made
    finally:
        made.stop()
