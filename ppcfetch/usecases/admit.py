"""Admit: let in those whose turn it is, then ring for them."""

from collections.abc import Collection

from ppcfetch.ports import Doorbell, Due


def admit(*, due: Due, doorbell: Doorbell, again: Collection[int] = ()) -> int:
    """Give how many jobs that waited for their turn ring now.

    Shape: again are jobs that were put back a moment ago. While their old messages were not yet
    settled nobody could ring for them, so those that were let in already ring now.
    Raises: DatabaseUnavailable, StreamUnavailable: who was let in and does not ring yet is found
    by the sweep.
    """
    admitted = due.admit(again)
    return doorbell.publish(admitted) if admitted else 0
