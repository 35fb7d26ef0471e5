"""Settings: read once, all faults at once, nothing secret shown."""

from datetime import timedelta
from pathlib import Path

import pytest

from ppcfetch.errors import ConfigurationError
from ppcfetch.model.health import Verdict
from ppcfetch.model.setting_words import finding_of_settings
from ppcfetch.settings import load_settings, unknown_settings

CANARY = "canary-d41d8cd98f00b204"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run where neither a .env file nor a variable of ours is set."""
    monkeypatch.chdir(tmp_path)
    for name in load_settings().model_dump():
        monkeypatch.delenv(f"PPCFETCH_{name.upper()}", raising=False)


def test_defaults_are_the_documented_ones() -> None:
    """A process without any setting has the protocol's default numbers."""
    settings = load_settings()

    limits = settings.limits
    assert (limits.lease, limits.renew, limits.stall) == (
        timedelta(seconds=60),
        timedelta(seconds=15),
        timedelta(seconds=180),
    )
    assert (limits.max_starts, limits.max_attempts) == (5, 8)
    assert (settings.port, settings.stale_after) == (8000, timedelta(hours=24))


def test_the_pace_is_polite_to_a_set_archive_and_free_for_the_emulator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One request a second unless said otherwise."""
    free = load_settings().requests_per_second
    monkeypatch.setenv("PPCFETCH_ARCHIVE_URL", "https://archive.example/")
    polite = load_settings().requests_per_second
    monkeypatch.setenv("PPCFETCH_ARCHIVE_REQUESTS_PER_SECOND", "2.5")
    chosen = load_settings().requests_per_second

    assert (free, polite, chosen) == (None, 1.0, 2.5)


def test_renewal_and_stall_follow_a_shorter_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Setting the lease alone gives a combination that works."""
    monkeypatch.setenv("PPCFETCH_LEASE_SECONDS", "1")

    limits = load_settings().limits

    assert limits.renew == timedelta(seconds=0.25)
    assert limits.stall == timedelta(seconds=3)


def test_all_faults_are_named_at_once_without_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """One start is enough to learn of every faulty setting."""
    monkeypatch.setenv("PPCFETCH_PORT", "70000")
    monkeypatch.setenv("PPCFETCH_DATABASE_URL", f"mysql://me:{CANARY}@host/name")
    monkeypatch.setenv("PPCFETCH_SECRET_KEY", CANARY)

    with pytest.raises(ConfigurationError) as refused:
        load_settings()

    text = str(refused.value)
    assert all(f"PPCFETCH_{name}:" in text for name in ("PORT", "DATABASE_URL", "SECRET_KEY"))
    assert CANARY not in text


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("PPCFETCH_RENEW_SECONDS", "21", "PPCFETCH_RENEW_SECONDS"),
        ("PPCFETCH_STALL_SECONDS", "59", "PPCFETCH_STALL_SECONDS"),
        ("PPCFETCH_LEASE_SECONDS", "0", "PPCFETCH_LEASE_SECONDS"),
        # An end that the archive answers with nothing is believed at the third attempt.
        ("PPCFETCH_MAX_ATTEMPTS", "2", "PPCFETCH_MAX_ATTEMPTS"),
        ("PPCFETCH_WORKER_NAME", "a b", "PPCFETCH_WORKER_NAME"),
        ("PPCFETCH_REDIS_URL", "http://x", "PPCFETCH_REDIS_URL"),
        ("PPCFETCH_ARCHIVE_URL", "ftp://x", "PPCFETCH_ARCHIVE_URL"),
    ],
)
def test_combinations_that_cannot_work_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, named: str
) -> None:
    """The message names the setting."""
    monkeypatch.setenv(name, value)

    with pytest.raises(ConfigurationError, match=named):
        load_settings()


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        (
            "PORT",
            "abc",
            "'abc' must be a whole number, at least 0, at most 65535, such as PPCFETCH_PORT=8000",
        ),
        ("HTTPS", "maybe", "'maybe' must be true or false, such as PPCFETCH_HTTPS=false"),
        (
            "STALE_HOURS",
            "\uff11\uff12",
            "PPCFETCH_STALE_HOURS=24; its digits must be 0 to 9",
        ),
        (
            "LEASE_SECONDS",
            "-1",
            "'-1' must be a number, above 0, at most 86400, such as PPCFETCH_LEASE_SECONDS=60",
        ),
        ("SCHEDULE_HOURS", "never", "'never' must be a number, above 0"),
        ("WORKER_NAME", "a b", "'a b' must be 1 to 64 letters, digits, _ and -, such as"),
        # A value that went to the wrong setting may hold a password.
        ("PORT", f"redis://:{CANARY}@host", "what is set must be a whole number"),
    ],
)
def test_a_faulty_value_is_repeated_beside_what_is_expected(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    """Nobody has to guess what was read, or look up what can be written."""
    monkeypatch.setenv(f"PPCFETCH_{name}", value)

    with pytest.raises(ConfigurationError) as refused:
        load_settings()

    text = str(refused.value)
    assert text.startswith(f"PPCFETCH_{name}: ")
    assert told in text
    assert CANARY not in text


def test_an_unknown_setting_is_told_with_what_was_perhaps_meant(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of the environment and of .env; what is read elsewhere is known."""
    monkeypatch.setenv("PPCFETCH_LEESE_SECONDS", "3")
    monkeypatch.setenv("PPCFETCH_USER_PASSWORD", CANARY)
    monkeypatch.setenv("PPCFETCH_PORT", "9000")
    (tmp_path / ".env").write_text(f"PPCFETCH_WEATHER={CANARY}\nPPCFETCH_WINDOW=9\nOTHER=1\n")

    told = unknown_settings()

    assert told == (
        "unknown setting PPCFETCH_LEESE_SECONDS: did you mean PPCFETCH_LEASE_SECONDS?",
        "unknown setting PPCFETCH_WEATHER: nothing reads it",
    )
    assert load_settings().lease_seconds == 60


def test_the_doctor_warns_of_unknown_settings() -> None:
    """They keep nothing from working."""
    assert finding_of_settings(()).verdict is Verdict.GOOD

    found = finding_of_settings(("unknown setting PPCFETCH_X: nothing reads it",))

    assert (found.verdict, found.check) == (Verdict.WARN, "settings")
    assert "PPCFETCH_X" in found.found
    assert found.advice


def test_secrets_do_not_show_in_the_settings_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Printing the settings is harmless."""
    monkeypatch.setenv("PPCFETCH_DATABASE_URL", f"postgresql://me:{CANARY}@host/name")
    monkeypatch.setenv("PPCFETCH_REDIS_URL", f"redis://:{CANARY}@host")
    monkeypatch.setenv("PPCFETCH_SECRET_KEY", CANARY * 2)

    settings = load_settings()

    assert CANARY not in repr(settings)
    assert CANARY not in settings.model_dump_json()
