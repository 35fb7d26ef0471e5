"""Files that people name: what is wrong with one, in the words of a command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ppcfetch.errors import PpcFetchError


@contextmanager
def named(file: Path) -> Iterator[None]:
    """Put a file's name before whatever is wrong with it. Raises: PpcFetchError."""
    try:
        yield
    except OSError as odd:
        reason = odd.strerror or "it cannot be read"
        raise PpcFetchError(f"{file}: {reason[:1].lower()}{reason[1:]}") from None
    except PpcFetchError as odd:
        raise PpcFetchError(f"{file}: {odd}") from None
