"""Admit: let in those whose turn it is, then ring for them."""

from ppcfetch.ports import Doorbell, Due


def admit(*, due: Due, doorbell: Doorbell) -> int:
    """Give how many jobs that waited for their turn ring now.

    Raises: DatabaseUnavailable, StreamUnavailable: who was let in and does not ring yet is found
    by the sweep.
    """
    admitted = due.admit()
    return doorbell.publish(admitted) if admitted else 0
