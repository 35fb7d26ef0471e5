"""The ways out to the archive: directly, or over proxies; and the leave to use one of them once."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

from ppcfetch.model.health import Finding, Verdict

DIRECT = "direct"
"""The name of the way out that uses no proxy."""

SCHEMES = frozenset({"http", "https", "socks5", "socks5h"})
MOST_PROXIES = 100
LONGEST_CREDENTIAL = 255
LARGEST_PORT = 65_535

_HOST = re.compile(r"[a-z0-9_.-]{1,253}|[0-9a-f:.]{2,45}", re.IGNORECASE)
_EXPECTED = (
    "must be http://, https:// or socks5://, then host:port or user:password@host:port;"
    " write / ? # @ and , in a password as %2F %3F %23 %40 and %2C"
)


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave for one call to the archive, over one egress."""

    egress: str


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy, and the name that it has in keys, logs and tables.

    Shape: the name is host:port, with #2 and so on for more of the same; credentials are a user
    and a password, None for a proxy that asks for none.
    """

    name: str
    scheme: str
    host: str
    port: int
    credentials: tuple[bytes, bytes] | None = field(default=None, repr=False)

    @property
    def is_socks(self) -> bool:
        """Whether it speaks SOCKS and not HTTP."""
        return self.scheme.startswith("socks")


@dataclass(frozen=True, slots=True)
class EgressFacts:
    """How an egress does.

    Shape: why is what it was rested or slowed for, empty when all is well. trying tells that its
    rest is over and one call may find out whether all is well again.
    Units: rate is the part of the full pace that it has, rest the time that it still rests.
    """

    name: str
    rest: timedelta
    trying: bool
    rate: float
    why: str

    @property
    def state(self) -> str:
        """One word for people."""
        if self.rest:
            return "resting"
        if self.trying:
            return "on trial"
        return "slowed" if self.rate < 1 else "well"


def parse_proxies(text: str) -> tuple[Proxy, ...]:
    """Give the proxies of a list with commas or blanks between.

    Raises: ValueError that says which one is wrong, never what was written.
    """
    words = [word for word in re.split(r"[\s,]+", text) if word]
    if len(words) > MOST_PROXIES:
        message = f"are {len(words)}, at most {MOST_PROXIES} are allowed"
        raise ValueError(message)
    return tuple(_named(words))


def egress_names(proxies: tuple[Proxy, ...]) -> tuple[str, ...]:
    """Give the names of all ways out; the direct one when there is no proxy."""
    return tuple(proxy.name for proxy in proxies) or (DIRECT,)


def finding_of_egresses(egresses: Sequence[EgressFacts]) -> Finding:
    """Judge the ways out; a rest ends by itself, so that nothing here keeps us from working."""
    bad = [f"{one.name} is {one.state}: {one.why}" for one in egresses if one.state != "well"]
    if not bad:
        return Finding("archive", Verdict.GOOD, f"{len(egresses)} ways out, none rests")
    advice = "nothing, if it passes by itself; else correct or replace what PPCFETCH_PROXIES names"
    return Finding("archive", Verdict.WARN, "; ".join(bad), advice)


def _named(words: list[str]) -> Iterator[Proxy]:
    seen: Counter[str] = Counter()
    for number, word in enumerate(words, 1):
        parts = _split(word, number)
        host, port = str(parts.hostname), int(parts.port or 0)
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        seen[place] += 1
        name = place if seen[place] == 1 else f"{place}#{seen[place]}"
        yield Proxy(name, parts.scheme, host, port, _credentials(parts, number))


def _split(word: str, number: int) -> SplitResult:
    """Give the parts of an address. Raises: ValueError that does not quote it."""
    try:
        parts = urlsplit(word)
    except ValueError:
        # Its text may quote the password.
        raise ValueError(_wrong(number, "its host")) from None
    part = _wrong_part(parts)
    if part:
        raise ValueError(_wrong(number, part))
    return parts


def _wrong_part(parts: SplitResult) -> str:
    """Name what is wrong with an address, empty when all is well."""
    if parts.scheme not in SCHEMES:
        return "its scheme"
    if not _HOST.fullmatch(parts.hostname or ""):
        return "its host"
    if not _has_port(parts):
        return f"its port (1 to {LARGEST_PORT})"
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        return "what stands behind its port"
    return ""


def _has_port(parts: SplitResult) -> bool:
    try:
        return parts.port is not None and 0 < parts.port <= LARGEST_PORT
    except ValueError:
        return False


def _credentials(parts: SplitResult, number: int) -> tuple[bytes, bytes] | None:
    if parts.username is None:
        return None
    pair = unquote_to_bytes(parts.username), unquote_to_bytes(parts.password or "")
    if not pair[0] or max(map(len, pair)) > LONGEST_CREDENTIAL:
        message = f"number {number}: user and password may have {LONGEST_CREDENTIAL} bytes each"
        raise ValueError(message)
    return pair


def _wrong(number: int, part: str) -> str:
    return f"number {number}: {part} is wrong; it {_EXPECTED}"
