"""Following a fetch: who asked for it or joined it, and what becomes of it when he leaves."""

from dataclasses import dataclass
from enum import StrEnum

from ppcfetch.model.fetch import FetchReason


class Leaving(StrEnum):
    """What leaving a fetch came to.

    LEFT: it goes on, for those who still wait or because nobody on the site began it. STOPPED:
    nobody else waited, so it has ended and what was read stays. STRANGER: he neither asked for it
    nor joined it. OVER: it had ended before.
    """

    LEFT = "left"
    STOPPED = "stopped"
    STRANGER = "stranger"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Company:
    """One person's part in a fetch.

    Shape: follows tells whether he asked for it or joined it; goes_on whether it would go on
    without him.
    """

    follows: bool = False
    goes_on: bool = False


def goes_on_without(reason: FetchReason, others: int) -> bool:
    """Tell whether a fetch outlives a person's leaving.

    What a command, an import or the schedule asked for is not a visitor's to end.
    """
    return others > 0 or reason is not FetchReason.PERSON
