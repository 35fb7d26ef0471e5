"""A file that cannot be used is named, with what is wrong with it; nobody guesses at an answer."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from ppcfetch.cli import entry
from ppcfetch.cli.fetch_lines import told_fetch
from ppcfetch.cli.files import named
from ppcfetch.errors import PpcFetchError
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch, FetchReason, FetchState

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def read(file: Path) -> str:
    """Run `archive read`, which must fail, and give what is wrong."""
    result = CliRunner().invoke(entry, ["archive", "read", str(file)])
    assert isinstance(result.exception, PpcFetchError), result
    assert result.stdout == ""
    return str(result.exception)


def test_an_empty_file_is_no_answer_of_the_archive(tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.touch()

    assert read(file).startswith(f"{file}: the archive's answer is empty")


def test_a_file_that_is_not_there_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    gone = tmp_path / "gone"

    assert read(gone) == f"{gone}: no such file or directory"
    assert read(tmp_path) == f"{tmp_path}: is a directory"


def test_a_list_that_is_not_there_is_told_before_anything_is_looked_for(tmp_path: Path) -> None:
    gone = tmp_path / "gone"

    result = CliRunner().invoke(entry, ["import", str(gone)])

    assert str(result.exception) == f"{gone}: no such file or directory"


def test_what_is_no_fault_of_the_file_passes_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), named(tmp_path):
        raise ZeroDivisionError


@pytest.mark.parametrize(("warnings", "told"), [(0, False), (3, True)])
def test_warnings_of_a_fetch_are_told_when_there_are_any(warnings: int, *, told: bool) -> None:
    fetch = Fetch(
        id=1,
        domain=DomainName("shop.example"),
        state=FetchState.DONE,
        reason=FetchReason.COMMAND,
        asked_by=None,
        asked_at=NOW,
        started_at=NOW,
        finished_at=NOW,
        total=None,
        pages=1,
        found=2,
        new=2,
        changed=0,
        unseen=None,
        warnings=warnings,
        error=None,
    )

    assert ("3 warnings" in told_fetch(fetch)) is told
    assert ("warning" in told_fetch(fetch)) is told
