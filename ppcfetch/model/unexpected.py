"""Texts of errors that nobody foresaw: kept whole for operators, never shown to strangers.

An error of ours has a text that was written for people. Any other may hold a statement, a key or
an address: its text is marked when it is stored, so that whoever shows it can leave it out.
"""

import re

HIDDEN = "an unexpected error; operators can see it"
_MARK = "unexpected"
_MARKED = re.compile(rf"(?:^|(?<=: ))(?:{_MARK} )?[\w.]+: ")
"""The mark, or a lone word in its place: that is how the text was kept before there was a mark."""


def marked(error: Exception) -> str:
    """Give the text that is stored of an error that is not ours."""
    return f"{_MARK} {type(error).__name__}: {error}"


def for_strangers(text: str | None) -> str:
    """Give a stored text as anybody may see it: what was not written by us is left out.

    Shape: what stands before it stays, such as which part of a fetch it befell.
    """
    found = _MARKED.search(text or "")
    return text[: found.start()] + HIDDEN if text and found else text or ""
