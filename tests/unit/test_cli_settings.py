"""Every program tells at its start of settings that nothing reads, and goes on."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from click.testing import CliRunner, Result

from ppcfetch.cli import entry

UNKNOWN = "unknown setting PPCFETCH_LEESE_SECONDS: did you mean PPCFETCH_LEASE_SECONDS?"


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Run over an empty data folder, where each command ends as nothing runs there."""
    handlers = logging.getLogger().handlers
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PPCFETCH_LEESE_SECONDS", "3")
    for name in ("PPCFETCH_DATABASE_URL", "PPCFETCH_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    yield
    # A process sends its log to its standard error, which ends with the test.
    structlog.reset_defaults()
    logging.getLogger().handlers = handlers


def run(*arguments: str) -> Result:
    return CliRunner().invoke(entry, arguments)


@pytest.mark.parametrize("command", [("status",), ("fetch", "shop.example"), ("db", "upgrade")])
def test_a_command_says_it_in_a_line_for_people(command: tuple[str, ...]) -> None:
    assert f"ppcfetch: {UNKNOWN}\n" in run(*command).stderr


@pytest.mark.parametrize("command", [("worker", "--pool", "bulk"), ("web",)])
def test_a_process_says_it_in_its_log(command: tuple[str, ...]) -> None:
    (line,) = [line for line in run(*command).stderr.splitlines() if "LEESE" in line]

    event = json.loads(line)
    assert (event["event"], event["level"]) == ("setting.unknown", "warning")
    assert event["told"] == UNKNOWN


def test_a_command_without_settings_says_nothing(tmp_path: Path) -> None:
    assert "LEESE" not in run("archive", "read", str(tmp_path)).stderr
