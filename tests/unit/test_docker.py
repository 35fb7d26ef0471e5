"""The container files, checked against the code: no engine may be at hand to try them."""

import re
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from ppcfetch.cli import entry
from ppcfetch.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
OURS = {name: service for name, service in SERVICES.items() if service.get("image") == "ppcfetch"}
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_all_parts_are_there() -> None:
    """Two servers, the migration, the site, both pools and the optional emulator."""
    names = {"postgres", "redis", "migrate", "web", "worker-interactive", "worker-bulk", "archive"}

    assert set(SERVICES) == names
    assert SERVICES["archive"]["profiles"] == ["emulator"]


@pytest.mark.parametrize("name", OURS)
def test_every_command_is_understood_by_the_command_line(name: str) -> None:
    """Parsed by the real commands, options and their types too."""
    words = list(OURS[name]["command"])
    command: click.Command = entry
    context = click.Context(command)

    while isinstance(command, click.Group):
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command = found

    command.make_context(name, words)


@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_a_setting(name: str) -> None:
    """A misspelt one would be ignored silently."""
    variables = OURS[name]["environment"]

    unknown = {v for v in variables if v.removeprefix(PREFIX).lower() not in Settings.model_fields}

    assert not unknown


@pytest.mark.parametrize("name", OURS)
def test_every_setting_of_an_operator_is_passed_on(name: str) -> None:
    """Without a value, so that what is not set keeps the code's own default.

    Where it listens, where it keeps files and what it is called belong to the container.
    """
    own = {"data_dir", "host", "port", "worker_name"}
    written = {"database_url", "redis_url", "archive_url", "secret_key"}
    passed = {PREFIX + field.upper() for field in Settings.model_fields.keys() - own - written}

    variables = OURS[name]["environment"]

    assert {variable for variable, value in variables.items() if value is None} == passed
    assert variables.keys() - passed == {PREFIX + field.upper() for field in written}


def test_the_example_names_only_settings() -> None:
    """Each line of .env.example is a setting, or one of the two server passwords."""
    names = re.findall(r"^#? ?(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)

    unknown = {n for n in names if n.removeprefix(PREFIX).lower() not in Settings.model_fields}

    assert unknown == {"POSTGRES_PASSWORD", "REDIS_PASSWORD"}


def test_the_site_is_reached_where_it_listens() -> None:
    """The published port is the default one, which the image exposes."""
    port = Settings.model_fields["port"].default

    assert SERVICES["web"]["ports"] == [f"{port}:{port}"]
    assert f"EXPOSE {port}" in DOCKERFILE
    assert f":{port}/readyz" in SERVICES["web"]["healthcheck"]["test"][-1]


def test_what_runs_long_is_watched_and_may_stop_in_peace() -> None:
    """Each has a health check and a grace period; nothing runs as root."""
    running = {name: s for name, s in SERVICES.items() if name != "migrate"}

    assert all("healthcheck" in service for service in running.values())
    assert all("stop_grace_period" in service for service in running.values())
    assert re.search(r"^USER ppcfetch$", DOCKERFILE, re.MULTILINE)


def test_redis_keeps_the_stream() -> None:
    """Append-only, and never throwing keys away."""
    command = " ".join(SERVICES["redis"]["command"])

    assert "--appendonly yes" in command
    assert "--maxmemory-policy noeviction" in command


@pytest.mark.parametrize("name", OURS)
def test_the_control_domain_is_the_codes_own(name: str) -> None:
    """The emulator's would be empty in any other archive, which then counts as blocked."""
    assert OURS[name]["environment"]["PPCFETCH_ARCHIVE_CONTROL_DOMAIN"] is None


def test_no_secret_has_a_default() -> None:
    """Compose stops with a clear message instead."""
    text = (ROOT / "docker-compose.yml").read_text()

    for name in ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "PPCFETCH_SECRET_KEY"):
        uses = re.findall(rf"\${{{name}(.*?)}}", text)
        assert uses
        assert all(use.startswith(":?") for use in uses)
