"""The archive alone."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ppcfetch.adapters.archive.client import ArchiveClient
from ppcfetch.adapters.embedded.running import Addresses
from ppcfetch.bootstrap.addresses import find_addresses
from ppcfetch.bootstrap.parts import open_client
from ppcfetch.settings import Settings


@contextmanager
def open_archive(settings: Settings) -> Iterator[ArchiveClient]:
    """Give the archive alone, for one query by hand."""
    if settings.archive_url is not None:
        addresses = Addresses("", "", settings.archive_url, emulated=False)
    else:
        addresses = find_addresses(settings)
    with ExitStack() as stack:
        yield open_client(stack, settings, addresses)
