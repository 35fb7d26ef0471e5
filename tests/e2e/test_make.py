"""What make does for somebody who has Python and make, in a folder with a space in its name.

The environment is not installed here: its stamps are laid down as if it were, with a stand-in for
the command, so that what make itself adds is seen alone.
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.source import ROOT
from tests.waiting import wait_until

FILES = ("Makefile", "pyproject.toml", "requirements.lock", "requirements-dev.lock")
OLD_PYTHON = f"""#!/bin/sh
exec {shlex.quote(sys.executable)} -c 'import sys
sys.version_info = (3, 10, 14, "final", 0)
exec(sys.argv[1])' "$2"
"""
STAND_IN = """#!/bin/sh
trap 'echo stopped > stopped; exit 0' TERM INT
echo "$@" > started
while :; do read -r _ < never; done
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Give a folder that holds only what make reads, written long ago."""
    folder = tmp_path / "a folder with spaces"
    folder.mkdir()
    for name in FILES:
        shutil.copy(ROOT / name, folder)
        os.utime(folder / name, (0, 0))
    return folder


@pytest.fixture
def running(checkout: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start `make run` over a stand-in for the command; ended whatever the test does."""
    install_stand_in(checkout, STAND_IN)
    os.mkfifo(checkout / "never")
    process = subprocess.Popen(["make", "run"], cwd=checkout, start_new_session=True)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_make_alone_lists_the_commands(checkout: Path) -> None:
    shown = make(checkout)

    assert shown.returncode == 0
    assert [line.split()[1] for line in shown.stdout.splitlines()] == [
        "help", "run", "test", "check", "bench", "simulate", "soak", "mutants", "lock", "servers",
        "clean",
    ]  # fmt: skip


def test_an_old_python_is_refused_with_the_version_that_is_needed(checkout: Path) -> None:
    old = executable(checkout / "old python", OLD_PYTHON)

    refused = make(checkout, "run", f"PYTHON=./{old.name}".replace(" ", "\\ "))

    assert refused.returncode != 0
    assert "needs Python 3.11 or newer" in refused.stderr
    assert not (checkout / ".venv").exists()


def test_a_python_without_ensurepip_names_the_debian_package(checkout: Path) -> None:
    script = '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\n'
    executable(checkout / "bare", script)

    refused = make(checkout, "run", "PYTHON=./bare")

    assert refused.returncode != 0
    assert "apt-get install python3-venv" in refused.stderr
    assert not (checkout / ".venv").exists()


def test_a_second_start_installs_nothing(checkout: Path) -> None:
    install_stand_in(checkout, "#!/bin/sh\necho started: $1\n")

    first, second = make(checkout, "run"), make(checkout, "run")

    assert first.stdout == second.stdout == "started: up\n"
    assert first.stderr == second.stderr == ""


def test_a_failed_start_fails_make(checkout: Path) -> None:
    install_stand_in(checkout, "#!/bin/sh\nexit 2\n")

    assert make(checkout, "run").returncode != 0


def test_sigterm_to_make_stops_the_product_cleanly(
    running: subprocess.Popen[bytes], checkout: Path
) -> None:
    wait_until((checkout / "started").exists, describe="the command was started")

    running.send_signal(signal.SIGTERM)

    running.wait(timeout=30)
    assert (checkout / "stopped").read_text() == "stopped\n"


def test_clean_takes_the_environment_and_leaves_the_data(checkout: Path) -> None:
    install_stand_in(checkout, "#!/bin/sh\n")
    for folder in (
        "var",
        "web/__pycache__",
        "ppcfetch",
        "workers",
        "migrations",
        "fixtures",
        "tests",
    ):
        (checkout / folder).mkdir(parents=True)

    cleaned = make(checkout, "clean")

    assert cleaned.returncode == 0
    assert (checkout / "var").is_dir()
    assert not (checkout / ".venv").exists()
    assert not (checkout / "web" / "__pycache__").exists()


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make as a shell with hardly any environment would."""
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def install_stand_in(checkout: Path, script: str) -> None:
    """Lay down an environment whose stamps say that it is up to date."""
    (checkout / ".venv" / "bin").mkdir(parents=True)
    executable(checkout / ".venv" / "bin" / "ppcfetch", script)
    for stamp in ("created", "dev", "runtime"):
        (checkout / ".venv" / f"{stamp}.stamp").touch()


def executable(path: Path, script: str) -> Path:
    """Write a program."""
    path.write_text(script)
    path.chmod(0o755)
    return path
