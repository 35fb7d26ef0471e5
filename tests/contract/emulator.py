"""A running emulator for tests, and raw requests to it."""

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import Any
from urllib.parse import quote

from fixtures.emulator.server import EmulatorServer
from tests.archive_reading import TODAY, Json, query

SEARCH = "/anji/_/rpc/SearchService/SearchCreatives?authuser="
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_TIMEOUT_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer, its body as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body read as JSON."""
        return json.loads(self.body)


@contextmanager
def running_emulator(seed: int = 7) -> Iterator[EmulatorServer]:
    """An emulator on a free port, stopped at the end."""
    server = EmulatorServer.open(host="127.0.0.1", port=0, seed=seed, today=TODAY)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def connected(server: EmulatorServer) -> http.client.HTTPConnection:
    """A connection that may be used for several requests."""
    return http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=_TIMEOUT_SECONDS)


def call(
    server: EmulatorServer,
    method: str,
    path: str,
    *,
    body: bytes | str | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """One request on a connection of its own."""
    connection = connected(server)
    try:
        return exchange(connection, method, path, body=body, headers=headers)
    finally:
        connection.close()


def exchange(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    *,
    body: bytes | str | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """One request on a connection that stays open."""
    connection.request(method, path, body, headers or {})
    response = connection.getresponse()
    return Answer(response.status, dict(response.getheaders()), response.read())


def form(fields: Json | list[Any]) -> str:
    """The form body of a call."""
    return "f.req=" + quote(json.dumps(fields))


def search(server: EmulatorServer, domain: str, **narrowed: Any) -> Answer:
    """One search by domain."""
    fields = query(domain, **narrowed)
    return call(server, "POST", SEARCH, body=form(fields), headers=FORM)


def behave(server: EmulatorServer, **behaviour: object) -> Answer:
    """Set the behaviour."""
    return call(server, "PUT", "/_emulator/behaviour", body=json.dumps(behaviour))


def raw_exchange(server: EmulatorServer, domain: str, extra: str = "") -> socket.socket:
    """A socket on which a search has just been sent."""
    body = form(query(domain))
    request = (
        f"POST {SEARCH} HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM['Content-Type']}\r\n"
        f"{extra}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
    )
    wire = socket.create_connection(("127.0.0.1", server.server_port), timeout=_TIMEOUT_SECONDS)
    wire.sendall(request.encode())
    return wire


def received(wire: socket.socket) -> bytes:
    """Everything until the other side closes."""
    parts = []
    while part := wire.recv(65536):
        parts.append(part)
    return b"".join(parts)
