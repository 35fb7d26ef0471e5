"""Where the parts are, and the key that signs forms."""

import secrets
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from ppcfetch.adapters.embedded import folder as files
from ppcfetch.adapters.embedded import running
from ppcfetch.adapters.embedded.running import Addresses
from ppcfetch.errors import ConfigurationError
from ppcfetch.settings import Settings

PUBLIC_ARCHIVE = "https://adstransparency.google.com"
SECRET_FILE = "secret-key"  # noqa: S105 - the name of the file


def find_addresses(settings: Settings) -> Addresses:
    """Give where database, Redis and archive are: as set, else the parts of a running `up`.

    Shape: archive is empty when there is none; only workers need one.
    Raises: ConfigurationError naming what is neither set nor running.
    """
    nothing = Addresses(database="", redis="", archive="", emulated=False)
    found = running.find(settings.data_dir) or nothing
    addresses = Addresses(
        database=_plain(settings.database_url) or found.database,
        redis=_plain(settings.redis_url) or found.redis,
        archive=settings.archive_url or found.archive,
        emulated=settings.archive_url is None and found.emulated,
    )
    needed = {
        "PPCFETCH_DATABASE_URL": addresses.database,
        "PPCFETCH_REDIS_URL": addresses.redis,
    }
    missing = [name for name, value in needed.items() if not value]
    if missing:
        message = (
            f"{' and '.join(missing)} not set, and no `ppcfetch up` runs over"
            f" {settings.data_dir}: start it, or set them"
        )
        raise ConfigurationError(message)
    return addresses


def is_invented(settings: Settings) -> bool:
    """Tell whether the archive is an emulator, so that pages can say that its data is invented.

    Shape: an address that is not the public archive's counts as an emulator's, unless
    PPCFETCH_ARCHIVE_EMULATED says otherwise.
    Raises: ConfigurationError as `find_addresses`.
    """
    addresses = find_addresses(settings)
    if addresses.emulated:
        return True
    if settings.archive_emulated is not None:
        return settings.archive_emulated
    host = urlsplit(addresses.archive).hostname
    return host is not None and host != urlsplit(PUBLIC_ARCHIVE).hostname


def ensure_secret_key(data_dir: Path) -> None:
    """Draw the key that signs forms, once for a data folder; only this user can read it."""
    if files.read(data_dir / SECRET_FILE) is None:
        files.write(data_dir / SECRET_FILE, secrets.token_urlsafe(48))


def secret_key(settings: Settings) -> str:
    """Give the key that signs forms. Raises: ConfigurationError when there is none."""
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value()
    drawn = files.read(settings.data_dir / SECRET_FILE)
    if drawn is None:
        message = "PPCFETCH_SECRET_KEY is not set: set 32 or more random characters"
        raise ConfigurationError(message)
    return drawn


def _plain(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None
