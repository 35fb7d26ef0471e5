"""An import of a long list does not slow down while the tables fill: on PostgreSQL only."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, event

from ppcfetch.model.domain import DomainName
from ppcfetch.ports import Wish
from tests.contract.database_rig import RealRig
from tests.contract.test_imports import a_wish

HELD = 40_000
BATCH = 500
FOUND_BY_KEY = {"domains", "fetches"}

FILL = """
INSERT INTO domains (domain) SELECT 'held-' || n || '.example' FROM generate_series(1, :count) n
"""
FETCH = "INSERT INTO fetches (domain, reason) SELECT domain, 'import' FROM domains"


def scans(postgres: RealRig, names: list[DomainName], wish: Wish) -> set[str]:
    """Give the tables that asking for domains reads from end to end."""
    found: set[str] = set()

    def explained(
        connection: Connection, _cursor: object, statement: str, values: Any, *_: object
    ) -> None:
        raw = connection.connection.driver_connection
        assert raw is not None
        # What is explained happens: it is taken back, so that it can happen once more.
        with raw.transaction(force_rollback=True), raw.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values)
            found.update(scanned(cursor.fetchone()[0][0]["Plan"]))

    event.listen(postgres.engine, "before_cursor_execute", explained)
    postgres.imports.ask(names, wish)
    event.remove(postgres.engine, "before_cursor_execute", explained)
    return found


def scanned(plan: dict[str, Any]) -> Iterator[str]:
    """Give the tables that a plan reads from end to end."""
    if plan["Node Type"] == "Seq Scan":
        yield plan["Relation Name"]
    for below in plan.get("Plans", []):
        yield from scanned(below)


def test_a_batch_finds_its_domains_by_key_however_many_are_held(postgres: RealRig) -> None:
    postgres.run(FILL, count=HELD)
    postgres.run(FETCH)
    names = [DomainName(f"{kind}-{n}.example") for n in range(BATCH) for kind in ("held", "new")]

    unknown = scans(postgres, names, a_wish())
    postgres.run("ANALYZE")
    known = scans(postgres, names, a_wish())

    assert (unknown | known) & FOUND_BY_KEY == set()
