"""An import that is killed on the way: the same command goes on."""

import json
from pathlib import Path

from tests.e2e.plant import Plant
from tests.waiting import wait_until

LINES = 20_000
SOME = 1_000


def test_an_import_that_was_killed_goes_on_and_asks_for_nothing_twice(
    plant: Plant, tmp_path: Path
) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("".join(f"shop-{n}.example\n" for n in range(LINES)), encoding="utf-8")
    killed = plant.command("import", "--json", str(listed))
    wait_until(lambda: plant.one("SELECT count(*) FROM jobs") > SOME, describe="some are stored")
    killed.kill()
    stored = plant.one("SELECT count(*) FROM jobs")

    again = plant.command("import", "--json", str(listed))
    assert again.wait(120) == 0, again.log.read_text()

    assert SOME < stored < LINES
    assert plant.one("SELECT count(*) FROM jobs") == LINES
    assert plant.one("SELECT count(DISTINCT domain) FROM jobs WHERE state = 'queued'") == LINES
    assert plant.one("SELECT count(DISTINCT domain) FROM fetches WHERE state = 'active'") == LINES
    told = json.loads(again.log.read_text())
    assert (told["asked"], told["active"]) == (LINES - stored, stored)
