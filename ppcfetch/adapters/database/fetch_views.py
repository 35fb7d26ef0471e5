"""Fetches that an operator may want to look at."""

from datetime import timedelta

from sqlalchemy import Engine, text

from ppcfetch.adapters.database.engine import translated
from ppcfetch.adapters.database.rows import FETCH_COLUMNS, fetch_of
from ppcfetch.model.fetch import Fetch

MOST = 50
LATELY = timedelta(days=7)

# Each half by an index of its own, however many fetches have ended well.
_NOTABLE = text(f"""
(SELECT {FETCH_COLUMNS} FROM fetches WHERE state = 'active' ORDER BY id DESC LIMIT :most)
UNION ALL
(SELECT {FETCH_COLUMNS} FROM fetches
WHERE state <> 'active' AND finished_at > clock_timestamp() - CAST(:lately AS interval)
    AND (state IN ('partial', 'failed') OR shrunk)
ORDER BY finished_at DESC, id DESC LIMIT :most)
""")  # noqa: S608 -- our own names


def notable_fetches(engine: Engine) -> list[Fetch]:
    """Give the newest active fetches and those that lately ended oddly, each MOST at most.

    Shape: active ones first. Raises: DatabaseUnavailable.
    """
    with translated(), engine.connect() as connection:
        rows = connection.execute(_NOTABLE, {"most": MOST, "lately": LATELY})
        return [fetch_of(row) for row in rows]
