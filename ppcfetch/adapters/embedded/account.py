"""Which system user a server runs as. PostgreSQL refuses to run as root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ppcfetch.errors import ConfigurationError

_UNPRIVILEGED = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Account:
    """A system user; ``switch`` says that it is not the one we are."""

    uid: int
    gid: int
    switch: bool


def own_account() -> Account:
    """The user of this process."""
    return Account(uid=os.geteuid(), gid=os.getegid(), switch=False)


def new_account() -> Account:
    """The user for a new data folder: our own, or an unprivileged one when we are root."""
    if os.geteuid() != 0:
        return own_account()
    for name in _UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(uid=entry.pw_uid, gid=entry.pw_gid, switch=True)
    raise ConfigurationError(
        "PostgreSQL does not run as root and there is no user "
        f"{' or '.join(_UNPRIVILEGED)}: start as an ordinary user or set PPCFETCH_DATABASE_URL"
    )


def account_of(data: Path) -> Account:
    """The user that an existing data folder belongs to, which the server must run as again."""
    entry = data.lstat()
    if os.geteuid() != 0 and entry.st_uid != os.geteuid():
        raise ConfigurationError(
            f"{data} belongs to user {_name(entry.st_uid)}: start as root or as that user, "
            "or choose another PPCFETCH_DATA_DIR"
        )
    if entry.st_uid == 0:
        raise ConfigurationError(f"{data} belongs to root, which PostgreSQL does not run as")
    return Account(entry.st_uid, entry.st_gid, switch=os.geteuid() == 0)


def reachable(path: Path, account: Account) -> bool:
    """Whether the user can enter a folder or read and run a file.

    Asked of the system itself by a process of that user: mode bits alone do not tell it where
    there are access lists or mounts.
    """
    if not account.switch:
        return True
    ask = ["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)]
    try:
        answer = subprocess.run(
            ask, check=False, cwd="/", user=account.uid, group=account.gid, extra_groups=[]
        )
    except PermissionError as exc:
        raise ConfigurationError(
            f"this process may not start another as user {_name(account.uid)}: "
            "start as an ordinary user or set PPCFETCH_DATABASE_URL"
        ) from exc
    return answer.returncode == 0


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
