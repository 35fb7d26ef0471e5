"""Sweep: publish what should ring and does not, and rebuild the stream after a loss.

Facts decide, never the clock of the asker: the stream says exactly whether a job has a live
message, the database says what is due. Any error ends the round; the next one begins anew.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Holder
from ppcfetch.ports import Census, Doorbell, Due, Schedule, SweepReport, nothing_scheduled
from ppcfetch.usecases.admit import admit

BATCH = 200
RANKS = {Pool.INTERACTIVE: 0, Pool.BULK: 1}


def sweep(
    holder: Holder,
    *,
    due: Due,
    doorbell: Doorbell,
    census: Census,
    turn: timedelta,
    schedule: Schedule = nothing_scheduled,
) -> SweepReport | None:
    """Make one round, or give None when another process has the turn.

    Units: turn is how long this process may be silent before another one sweeps.
    Raises: DatabaseUnavailable, StreamUnavailable: nothing more was done this round.
    """
    if not due.take_turn(holder, turn):
        return None
    rebuilt = rebuild_after_loss(due=due, doorbell=doorbell, census=census)
    return SweepReport(
        admitted=admit(due=due, doorbell=doorbell),
        published=_ring(due, doorbell),
        orphans=census.delete_orphans(),
        closed=due.close_idle_fetches(),
        pruned=due.prune(),
        forgotten=len(census.forget_consumers()),
        scheduled=schedule(),
        rebuilt=rebuilt,
    )


def rebuild_after_loss(*, due: Due, doorbell: Doorbell, census: Census) -> bool:
    """Publish everything due when Redis no longer bears the database's epoch; tells if it did.

    Any number of processes may do this at once: publishing is idempotent, nothing is destroyed,
    and the value written last is always the database's own.
    """
    epoch = due.epoch()
    if census.epoch() == epoch:
        return False
    census.ensure_groups()
    _ring(due, doorbell)
    census.restore(epoch)
    return True


def _ring(due: Due, doorbell: Doorbell) -> int:
    return sum(doorbell.publish(batch) for batch in _batches(due))


def _batches(due: Due) -> Iterator[Sequence[tuple[int, Pool]]]:
    after: tuple[int, int] | None = None
    while batch := due.unrung(after, BATCH):
        yield batch
        last_job, last_pool = batch[-1]
        after = (RANKS[last_pool], last_job)
