"""The small files of a server's folder: its lock, its password, its log, its socket folder."""

import contextlib
import fcntl
import os
import secrets
import stat
import tempfile
from pathlib import Path

from ppcfetch.errors import ConfigurationError

_LOG_BYTES = 5_000_000
# Not tempfile's own choice: TMPDIR may be long.
_SOCKETS = Path("/tmp")  # noqa: S108 - the folders made in it have mode 0700 and a checked owner
_SOCKETS_PREFIX = "ppcfetch-"


def lock(folder: Path) -> int:
    """A descriptor that keeps every other process out of the folder until it is closed.

    The kernel closes it when this process dies, however it dies; no server inherits it.
    """
    file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        holder = os.read(file, 32).decode(errors="replace").strip() or "unknown"
        os.close(file)
        raise ConfigurationError(
            f"{folder} is in use by process {holder}: stop that one or choose another "
            "PPCFETCH_DATA_DIR"
        ) from exc
    os.ftruncate(file, 0)
    os.write(file, str(os.getpid()).encode())
    return file


def write(path: Path, text: str) -> None:
    """Put the text into a file that only its owner reads, whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(path)


def read(path: Path) -> str | None:
    """The text of a small file, or None when there is none."""
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None


def password(folder: Path) -> str:
    """The server's password, made once and kept with mode 0600; safe inside an address."""
    kept = read(folder / "password")
    if kept is None:
        kept = secrets.token_urlsafe(24)
        write(folder / "password", kept)
    return kept


def open_log(path: Path) -> int:
    """A descriptor that appends to the log; a long log of earlier runs moves to ``….1``."""
    if path.is_file() and path.stat().st_size > _LOG_BYTES:
        path.replace(path.with_name(f"{path.name}.1"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)


def socket_folder(folder: Path, *, uid: int) -> Path:
    """A short private folder for the server's socket, the same one at every start if possible.

    A socket's path may have 107 bytes, which a data folder's path easily exceeds. Only the
    server's user (and root) may enter, so nobody else can listen in the server's place.
    """
    kept = read(folder / "socket")
    if kept is not None and _usable(Path(kept), uid):
        return Path(kept)
    new = Path(tempfile.mkdtemp(prefix=_SOCKETS_PREFIX, dir=_SOCKETS))
    os.chown(new, uid, -1)
    write(folder / "socket", str(new))
    return new


def remove_socket_folder(path: Path) -> None:
    """Delete the folder and the sockets in it; the next start makes it again."""
    with contextlib.suppress(FileNotFoundError):
        for file in path.iterdir():
            file.unlink()
        path.rmdir()


def _usable(path: Path, uid: int) -> bool:
    if path.parent != _SOCKETS or not path.name.startswith(_SOCKETS_PREFIX):
        return False
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        entry = path.lstat()
        # Anybody may have made it in the meantime: then we do not listen there.
        private = stat.S_ISDIR(entry.st_mode) and not entry.st_mode & 0o077
        return private and entry.st_uid == uid
    os.chown(path, uid, -1)
    return True
