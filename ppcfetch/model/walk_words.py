"""A walk in words: which ads of a domain a job reads, and what became of those that died."""

from datetime import date

from ppcfetch.model.ad import AdFormat
from ppcfetch.model.job import JobKind
from ppcfetch.model.parts import FIRST_DAY

ALL = "all ads"
TOP_UP = "what was shown meanwhile"


def walk_in_words(
    kind: JobKind, format_: AdFormat | None, first_day: date | None, last_day: date | None
) -> str:
    """Say which ads a job reads."""
    if kind is JobKind.TOP_UP:
        return TOP_UP
    if first_day is None or last_day is None:
        return f"{format_ or 'all'} ads"
    which = f"{format_} ads" if format_ else "ads"
    if first_day == FIRST_DAY:
        return f"{which} last shown until {last_day}"
    return f"{which} last shown from {first_day} to {last_day}"


def told_of_dead(what: str, error: str | None, *, dead: int) -> str | None:
    """Say what went wrong with a fetch.

    Shape: what and error are of the first of its dead walks; what is left out when it was to
    read everything.
    """
    if what == ALL:
        return error
    others = {1: "", 2: " and another part"}.get(dead, f" and {dead - 1:,} other parts")
    return f"{what}{others}: {error or 'no reason was kept'}"
