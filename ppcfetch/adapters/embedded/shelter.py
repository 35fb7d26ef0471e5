"""Places that an unprivileged user can reach when the data folder or the wheel is out of reach.

When root starts the servers below a folder that only root may enter (``/root``, a ``mktemp -d``),
PostgreSQL, which runs as another user, can neither read its programs nor its data there. The
rights of those folders are never opened. Instead, below the first of ``SHELTERS`` that root owns:

- ``postgresql-<digest of the content>`` holds a copy of the programs, owned by root, made once
  under another name, compared with its source and then renamed; it is compared at every start;
- ``data-<random>`` holds the data. The requested folder keeps password, log and lock, and a file
  ``place`` that names it. Whoever deletes the requested folder by hand deletes that place, too.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ppcfetch.adapters.embedded import folder as files
from ppcfetch.adapters.embedded.account import Account, reachable
from ppcfetch.errors import ConfigurationError

SHELTERS = (Path("/var/lib/ppcfetch"), Path("/var/tmp/ppcfetch"))  # noqa: S108 - owner is checked
_NAME = "data-"


def data_place(folder: Path, shelters: Sequence[Path]) -> Path | None:
    """Where the folder's data is already kept: itself, its place elsewhere, or None if new.

    Raises: ConfigurationError when the place it names is gone, or belongs to another folder.
    """
    kept = files.read(folder / "place")
    if kept is None:
        return folder if (folder / "data").exists() else None
    place = Path(kept)
    if place.parent not in shelters or not place.name.startswith(_NAME):
        raise ConfigurationError(f"{folder / 'place'} names {place}, which is no place of ours")
    if not place.is_dir() or place.lstat().st_uid != os.geteuid():
        raise ConfigurationError(
            f"{place}, named by {folder / 'place'}, is gone or not ours: restore it, or start "
            "with an empty PPCFETCH_DATA_DIR"
        )
    _check_owner(place, folder)
    return place


def new_place(folder: Path, account: Account, shelters: Sequence[Path]) -> Path:
    """Where the data of a new folder shall be: in itself if the user gets there."""
    if reachable(folder, account):
        return folder
    place = Path(tempfile.mkdtemp(prefix=_NAME, dir=_shelter(account, shelters)))
    place.chmod(0o711)
    files.write(place / "folder", str(folder))
    files.write(folder / "place", str(place))
    return place


def programs(
    wheel: Path, parts: Iterable[Path], account: Account, shelters: Sequence[Path]
) -> Path:
    """The wheel itself if the user gets there, else a copy of its parts where it does."""
    parts = list(parts)
    if all(reachable(wheel / part, account) for part in parts):
        return wheel
    shelter = _shelter(account, shelters)
    digest = _digest(wheel, parts)
    copy = shelter / f"postgresql-{digest[:16]}"
    if not copy.exists():
        _copy(wheel, parts, copy)
    if copy.lstat().st_uid != os.geteuid() or _digest(copy, parts) != digest:
        raise ConfigurationError(f"{copy} was changed: delete it, and it will be made again")
    return copy


def _check_owner(place: Path, folder: Path) -> None:
    """Follow a folder that was moved; refuse one that was copied, which has no data of its own."""
    owner = files.read(place / "folder")
    if owner == str(folder):
        return
    if owner is not None and files.read(Path(owner) / "place") == str(place):
        raise ConfigurationError(
            f"{folder} is a copy of {owner} without the data, which lies in {place}: use that "
            "folder, or start with an empty PPCFETCH_DATA_DIR and load a dump"
        )
    files.write(place / "folder", str(folder))


def _shelter(account: Account, shelters: Sequence[Path]) -> Path:
    for shelter in shelters:
        try:
            shelter.mkdir(mode=0o755, exist_ok=True)
        except OSError:
            continue
        entry = shelter.lstat()
        ours = stat.S_ISDIR(entry.st_mode) and entry.st_uid == os.geteuid()
        if ours and not entry.st_mode & 0o022 and reachable(shelter, account):
            return shelter
    raise ConfigurationError(
        "the database's own user cannot enter the data folder, and none of "
        f"{', '.join(map(str, shelters))} is a folder of root that it can enter: choose a "
        "PPCFETCH_DATA_DIR that every user can enter, or set PPCFETCH_DATABASE_URL"
    )


def _copy(wheel: Path, parts: Iterable[Path], copy: Path) -> None:
    new = Path(tempfile.mkdtemp(prefix=".new-", dir=copy.parent))
    try:
        for part in parts:
            target = new / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if (wheel / part).is_dir():
                shutil.copytree(wheel / part, target, copy_function=shutil.copy)
            else:
                shutil.copy(wheel / part, target)
        for path in (new, *new.rglob("*")):
            runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if runs else 0o644)
        os.sync()  # the name must not reach the disk before the content
        try:
            new.rename(copy)
        except OSError:  # another start was faster: its copy is compared like ours
            if not copy.is_dir():
                raise
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _digest(wheel: Path, parts: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for part in parts:
        for file in sorted(_files(wheel / part)):
            total.update(f"{file.relative_to(wheel)}\0{file.stat().st_size}\0".encode())
            total.update(file.read_bytes())
    return total.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    return (file for file in path.rglob("*") if file.is_file()) if path.is_dir() else iter([path])
