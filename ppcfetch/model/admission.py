"""How many jobs have a message at once; whoever waits for a turn has none."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Admission:
    """How many jobs are let in.

    Shape: window counts the jobs of a pool that are ready in the stream, in no hand yet, and is at
    least 2: of a single place nobody could tell whose turn it was last; parts counts the jobs of
    one split fetch that are in the stream or in a hand.
    """

    window: int = 8
    parts: int = 8
