"""What reading an answer left out or repaired, counted by kind."""

from collections import Counter

_NEVER_STORED = {0: None} | dict.fromkeys(range(0xD800, 0xE000))
"""NUL and lone surrogates: PostgreSQL keeps neither."""


class Findings:
    """Counts what was noticed, so that a page of a hundred odd rows gives one warning."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def note(self, what: str) -> None:
        """Count one more of a kind; kinds are few and fixed, so that warnings stay short."""
        self._counts[what] += 1

    def warnings(self) -> tuple[str, ...]:
        """Give one text for each kind, in the order of their first sight."""
        return tuple(f"{count} × {what}" for what, count in self._counts.items())

    def text(self, value: str, *, longest: int, name: str) -> str:
        """Give a text as it can be stored: otherwise raw, for whoever shows it to clean."""
        kept = value if value.isprintable() else value.translate(_NEVER_STORED)
        if len(kept) < len(value):
            self.note(f"{name} with characters that cannot be stored")
        if len(kept) > longest:
            self.note(f"{name} cut to {longest} characters")
        return kept[:longest]
