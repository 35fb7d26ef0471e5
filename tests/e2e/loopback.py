"""Asking programs on this machine over plain HTTP."""

import ssl
from typing import Any

import httpx


def ask(address: str, *, method: str = "GET", timeout: float = 5, **request: Any) -> httpx.Response:
    """Give the answer of a program on loopback.

    Raises: httpx.HTTPError when there is none.
    """
    # Nobody is trusted: to load all authorities, as by default, takes longer than to ask.
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with httpx.Client(verify=nobody, timeout=timeout) as client:
        return client.request(method, address, **request)
