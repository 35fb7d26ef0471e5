"""Domain names: the key of everything that is looked up. Placeholder until its builder commits."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DomainName:
    """A registrable domain as an A-label, such as ``xn--bcher-kva.example``."""

    name: str
