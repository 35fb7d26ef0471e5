"""Where the parts of a running `ppcfetch up` can be reached, for commands beside it."""

import fcntl
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ppcfetch.adapters.embedded import folder as files
from ppcfetch.errors import ConfigurationError

_FILE = "running.json"


@dataclass(frozen=True, slots=True)
class Addresses:
    """The three things that every process needs to reach; they may hold passwords."""

    database: str = field(repr=False)
    redis: str = field(repr=False)
    archive: str
    emulated: bool


def announce(data_dir: Path, addresses: Addresses) -> None:
    """Let commands find the parts; only this user can read the file."""
    files.write(data_dir / _FILE, json.dumps(asdict(addresses)))


def withdraw(data_dir: Path) -> None:
    """Say that nothing runs any more."""
    (data_dir / _FILE).unlink(missing_ok=True)


def find(data_dir: Path) -> Addresses | None:
    """Give the addresses of what runs over the data folder, None when nothing does.

    Raises: ConfigurationError when the file is not ours to read or not as we write it.
    """
    if not _is_running(data_dir):
        return None
    try:
        text = files.read(data_dir / _FILE)
        return Addresses(**json.loads(text)) if text else None
    except (OSError, TypeError, ValueError) as exc:
        message = f"{data_dir / _FILE} cannot be read: start ppcfetch up again ({exc})"
        raise ConfigurationError(message) from exc


def _is_running(data_dir: Path) -> bool:
    """Whether a process holds the folder's lock; one that died holds it no more."""
    try:
        with (data_dir / "lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
