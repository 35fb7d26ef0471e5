"""`ppcfetch import` on real servers: what it asks for, what it passes over, what it refuses."""

from pathlib import Path

import pytest

from ppcfetch.model.job import Pool
from tests.contract.commands_rig import Commands

LIST = """domain
bluebird.example
not a domain
https://www.shop.example/sale
bluebird.example
"""


@pytest.fixture
def listed(tmp_path: Path) -> str:
    """A list with a header, a link, a line twice and one that is no domain."""
    file = tmp_path / "list.csv"
    file.write_text(LIST, encoding="utf-8")
    return str(file)


def jobs(commands: Commands) -> list[tuple[str, str]]:
    return [(row["domain"], row["pool"]) for row in commands.json("jobs")]


def test_each_stale_domain_is_asked_for_once_in_bulk(commands: Commands, listed: str) -> None:
    told = commands.json("import", listed)

    counts = {name: told[name] for name in ("asked", "duplicate", "fresh", "active", "refusals")}
    assert counts == {"asked": 2, "duplicate": 1, "fresh": 0, "active": 0, "refusals": 1}
    assert [one["line"] for one in told["refused"]] == [3]
    assert sorted(jobs(commands)) == [("bluebird.example", "bulk"), ("shop.example", "bulk")]


def test_a_dry_run_tells_the_same_and_changes_nothing(commands: Commands, listed: str) -> None:
    told = commands.json("import", listed, "--dry-run")

    assert (told["asked"], told["duplicate"], told["dry_run"]) == (2, 1, True)
    assert jobs(commands) == []


def test_again_it_passes_over_what_is_active_or_fresh(commands: Commands, listed: str) -> None:
    commands.run("import", listed)
    rig = commands.database
    (job,) = [row["job"] for row in commands.json("jobs") if row["domain"] == "shop.example"]
    rig.write(rig.lease(job, pool=Pool.BULK), last=True)

    told = commands.json("import", listed)

    assert (told["asked"], told["fresh"], told["active"]) == (0, 1, 1)
    assert len(jobs(commands)) == 2


def test_refused_lines_are_named_on_standard_error(commands: Commands, listed: str) -> None:
    result = commands.run("import", listed)

    assert result.exit_code == 0
    assert result.stderr.startswith("line 3: ")
    assert (
        "2 asked for; 0 fresh, 0 fetched already, 1 twice in the list, 1 refused" in result.stdout
    )


def test_a_list_without_any_domain_fails(commands: Commands, tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text("nothing here\n", encoding="utf-8")

    result = commands.run("import", str(file))

    assert result.exit_code == 1
    assert result.stderr.startswith("line 1: ")
    assert str(result.exception) == f"{file} holds no domains"


def test_an_empty_list_is_no_success(commands: Commands, tmp_path: Path) -> None:
    file = tmp_path / "empty.txt"
    file.touch()

    result = commands.run("import", str(file))

    assert (result.exit_code, result.stdout) == (1, "")
    assert str(result.exception) == f"{file} holds no domains"


def test_a_list_that_cannot_be_read_is_named(commands: Commands, tmp_path: Path) -> None:
    odd = tmp_path / "odd.txt"
    odd.write_bytes(b"caf\xe9.example\n")

    gone = commands.run("import", str(tmp_path / "gone.txt"))
    unreadable = commands.run("import", str(odd))

    assert gone.exit_code != 0
    assert unreadable.exit_code != 0
    assert str(gone.exception).endswith("gone.txt: no such file or directory")
    assert "odd.txt: not UTF-8" in str(unreadable.exception)


def test_a_column_that_is_not_there_is_named(commands: Commands, listed: str) -> None:
    result = commands.run("import", listed, "--column", "rival")

    assert result.exit_code == 2
    assert "no column 'rival'" in result.stderr
