"""Static files under names that carry their content, so that browsers may keep them for ever."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from wsgiref.headers import Headers

from whitenoise import WhiteNoise

from web.security import static_headers

FOLDER = Path(__file__).with_name("static")
PLAIN_NAMES = frozenset({"htmx.LICENSE.txt"})
HASHED = re.compile(r"/static/[\w.-]+\.[0-9a-f]{12}\.\w+$")


def hashed_addresses() -> Mapping[str, str]:
    """Give for each static file the address that carries a hash of its content."""
    return {file.name: _address(file) for file in sorted(FOLDER.iterdir()) if file.is_file()}


def serve_static(application: Any, addresses: Mapping[str, str], *, https: bool) -> WhiteNoise:
    """Wrap a WSGI application so that static files are answered before it is asked."""

    def add_headers(headers: Headers, _path: str, _url: str) -> None:
        for name, value in static_headers(https=https).items():
            headers[name] = value

    server = WhiteNoise(
        application,
        allow_all_origins=False,
        add_headers_function=add_headers,
        immutable_file_test=lambda _path, url: bool(HASHED.search(url)),
    )
    for name, address in addresses.items():
        server.add_file_to_dictionary(address, str(FOLDER / name))
    return server


def _address(file: Path) -> str:
    if file.name in PLAIN_NAMES:
        return f"/static/{file.name}"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
    return f"/static/{file.stem}.{digest}{file.suffix}"
