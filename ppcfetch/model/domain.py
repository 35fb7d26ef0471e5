"""Domain names: the key of everything that is looked up.

One normaliser for forms, addresses, commands and imports. It never asks the network: the list
of public suffixes is the one inside the installed publicsuffixlist.
"""

import ipaddress
import re
from dataclasses import dataclass
from functools import cache
from typing import NoReturn

import idna
from publicsuffixlist import PublicSuffixList

from ppcfetch.errors import InvalidDomain
from ppcfetch.model.writing import is_honest

LONGEST = 1024
"""Characters; longer input is refused before anything looks at it."""

_INVISIBLE = "\ufeff\u200b\u200e\u200f\u2060"
_HTTP = re.compile(r"(?:https?:)?[/\\]{2,}|https?:[/\\]?", re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT_DIGITS = 5
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LONGEST_NAME = 253
_LABEL = r"(?!..--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PLAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
"""A name of letters, digits and single hyphens: as an A-label it is what it is."""


@dataclass(frozen=True, slots=True)
class DomainName:
    """A registrable domain as an A-label, such as ``xn--bcher-kva.example``.

    Shape: made by `parse`, except where the name comes from our own database.
    """

    name: str

    @classmethod
    def parse(cls, text: str) -> "DomainName":
        """Give the registrable domain that a name or a pasted link belongs to.

        Shape: private suffixes count, so ``one.github.io`` is a site of its own and so is
        ``github.io``. Parsing the text of a result gives the same result.
        Raises: InvalidDomain, with what is wrong in one sentence.
        """
        if len(text) > LONGEST:
            raise InvalidDomain(f"That is too long for a domain: at most {LONGEST:,} characters.")
        return cls(_registrable(_ascii(_host(text))))

    @property
    def unicode(self) -> str:
        """The name as people write it, or the A-label when that could deceive."""
        labels = idna.decode(self.name, display=True).split(".")
        return ".".join(labels) if all(map(is_honest, labels)) else self.name

    def __str__(self) -> str:
        return self.name


def _host(text: str) -> str:
    """Cut the host out of a name or a link."""
    text = text.strip().strip(_INVISIBLE).strip()
    if not text:
        raise InvalidDomain("Type a domain, such as example.com.")
    if _CONTROL.search(text):
        raise InvalidDomain("A domain cannot contain control characters.")
    link = _HTTP.match(text)
    rest = text[link.end() :] if link else text
    if not link and (scheme := _SCHEME.match(text)) and text.startswith("//", scheme.end()):
        _refuse_scheme(scheme[1])
    authority = re.split(r"[/\\?#]", rest, maxsplit=1)[0]
    _, at, server = authority.rpartition("@")
    if at and not link:
        _refuse_mail(server)
    return _without_port(server)


def _without_port(server: str) -> str:
    _refuse_ipv6(server)
    host, colon, port = server.rpartition(":")
    if not colon:
        return server
    if port and not (port.isascii() and port.isdigit() and len(port) <= _PORT_DIGITS):
        if "." not in host and _SCHEME.fullmatch(f"{host}:"):
            _refuse_scheme(host)
        raise InvalidDomain(f"“{_shown(port)}” is not a port number.")
    return host


def _ascii(host: str) -> str:
    """Give the host in A-labels, without the dot at its end."""
    if not host:
        raise InvalidDomain("There is no domain in this address.")
    try:
        name = _encoded(host)
    except UnicodeError as exc:  # idna's own errors are all of this kind
        raise InvalidDomain(f"“{_shown(host)}” is not a valid domain name.") from exc
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        _refuse_address(name)
    return name


def _encoded(host: str) -> str:
    # Nearly every line of a long list is plain, and idna takes most of the time to read it.
    plain = host.lower() if host.isascii() else ""
    if len(plain) <= _LONGEST_NAME and _PLAIN.fullmatch(plain):
        return plain
    return idna.encode(host, uts46=True).decode("ascii").removesuffix(".")


def _registrable(name: str) -> str:
    """Give the part of a host that somebody registered."""
    found = _suffixes().privatesuffix(name)
    if found is not None:
        return found
    if _icann_suffixes().privatesuffix(name) is not None:
        return name  # a private suffix is itself a site: github.io
    if "." not in name and _suffixes().publicsuffix(name, accept_unknown=False) is None:
        raise InvalidDomain(f"“{_shown(name)}” is a single word: a domain has an ending like .com.")
    raise InvalidDomain(f"“{_shown(name)}” is an ending, not a domain.")


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@cache
def _icann_suffixes() -> PublicSuffixList:
    return PublicSuffixList(only_icann=True)


def _refuse_scheme(scheme: str) -> NoReturn:
    raise InvalidDomain(f"Only http and https links can be looked up, not “{_shown(scheme)}:”.")


def _refuse_address(host: str) -> NoReturn:
    raise InvalidDomain(f"“{_shown(host)}” is an IP address, not a domain.")


def _refuse_ipv6(server: str) -> None:
    bare = server.partition("]")[0].removeprefix("[")
    if ":" not in bare:
        return
    try:
        ipaddress.IPv6Address(bare)
    except ValueError:
        return
    _refuse_address(bare)


def _refuse_mail(server: str) -> NoReturn:
    try:
        meant = DomainName.parse(server)
    except InvalidDomain as exc:
        raise InvalidDomain("That is an e-mail address, not a domain.") from exc
    raise InvalidDomain(f"That is an e-mail address, not a domain: did you mean {meant}?")


def _shown(text: str) -> str:
    """Make a piece of strange text safe to repeat in a sentence."""
    short = text if len(text) <= 60 else text[:57] + "…"  # noqa: PLR2004 - a sentence, not a rule
    return "".join(char if char.isprintable() else "?" for char in short)
