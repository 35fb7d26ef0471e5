"""Settle: the outcome into the row, then the delivery.

If the row says what happens next, the delivery is settled; if it does not, it is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from ppcfetch.errors import StreamUnavailable
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Lease, Refused
from ppcfetch.model.outcome import (
    ANSWERS,
    Answer,
    Dead,
    Done,
    HandBack,
    Leave,
    Outcome,
    Rest,
    RetryLater,
    Spill,
)
from ppcfetch.ports import Jobs, Settling

EVENTS: dict[type[Outcome], str] = {
    Done: "job.done",
    RetryLater: "job.retried",
    Rest: "job.rested",
    HandBack: "job.handed_back",
    Spill: "job.spilled",
    Dead: "job.died",
    Leave: "lease.lost",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that is over. Shape: row_ended tells that its last page already ended the row."""

    lease: Lease
    delivery: Delivery
    outcome: Outcome
    row_ended: bool = False


def settle(ended: Sequence[Ended], *, jobs: Jobs, settling: Settling) -> None:
    """Write all outcomes, then settle all deliveries whose row says what happens next.

    Raises: DatabaseUnavailable: nothing is known to be written; the call may be repeated.
    When Redis is away the deliveries stay pending; they are settled when found again.
    """
    to_write = [e for e in ended if not e.row_ended and not isinstance(e.outcome, Leave)]
    ours = jobs.settle([(e.lease, e.outcome) for e in to_write]) if to_write else frozenset()
    told = [e for e in ended if e.row_ended or e.lease.job.id in ours]
    log = structlog.get_logger().bind()
    for end in ended:
        _tell(log, end, known=end.row_ended or end.lease.job.id in ours)
    try:
        _settle_deliveries(told, settling)
    except StreamUnavailable as silent:
        structlog.get_logger().warning("deliveries.left", count=len(told), error=str(silent))


def answer(refused: Sequence[tuple[Delivery, Refused]], *, settling: Settling) -> None:
    """Do with each delivery that got no lease what its refusal asks for.

    Raises: StreamUnavailable: what was not settled stays pending and is found again.
    """
    settled = []
    for delivery, refusal in refused:
        match ANSWERS[refusal.why]:
            case Answer.LEAVE:
                pass
            case Answer.SETTLE:
                settled.append(delivery)
            case Answer.MOVE:
                settling.move([delivery], refusal.pool or delivery.pool)
            case Answer.DEAD_LETTER:
                settling.dead_letter(delivery, str(refusal.why))
    if settled:
        settling.settle(settled)


def _settle_deliveries(told: Sequence[Ended], settling: Settling) -> None:
    settled = []
    moved: dict[Pool, list[Delivery]] = {}
    for end in told:
        match end.outcome:
            case HandBack():
                moved.setdefault(end.delivery.pool, []).append(end.delivery)
            case Dead(error):
                settling.dead_letter(end.delivery, error)
            case _:
                settled.append(end.delivery)
    if settled:
        settling.settle(settled)
    for pool, deliveries in moved.items():
        settling.move(deliveries, pool)


def _tell(log: Any, end: Ended, *, known: bool) -> None:
    job = end.lease.job
    event, reason = EVENTS[type(end.outcome)], _reason(end.outcome)
    if not known and not isinstance(end.outcome, Leave):
        event, reason = "lease.lost", "the row was leased again before the outcome was written"
    log.info(
        event,
        job=job.id,
        fetch=job.fetch_id,
        domain=str(job.query.domain),
        pool=str(job.pool),
        consumer=end.lease.holder.consumer,
        fence=end.lease.fence,
        pages=job.pages,
        **({"reason": reason} if reason else {}),
    )


def _reason(outcome: Outcome) -> str | None:
    match outcome:
        case Leave(why):
            return why
        case RetryLater(error=error) | Rest(error=error) | Dead(error=error):
            return error
    return None
