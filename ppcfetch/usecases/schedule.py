"""Schedule: ask for watched domains that have grown old, a bounded batch a round."""

from datetime import timedelta

import structlog

from ppcfetch.errors import StreamUnavailable
from ppcfetch.model.fetch import FetchReason, Reach
from ppcfetch.model.job import Pool
from ppcfetch.ports import Doorbell, Imports, Pauses, Watched, Wish

MOST_A_ROUND = 50
"""Fetches asked for in one round of the sweeper."""


def schedule(
    every: timedelta,
    *,
    watched: Watched,
    imports: Imports,
    doorbell: Doorbell,
    pauses: Pauses,
    reach: Reach,
) -> int:
    """Give how many fetches were asked for now.

    While the bulk pool is paused nothing is: what is due stays due. Units: every is the age from
    which a watched domain is asked for again.
    """
    if pauses.pause_of(Pool.BULK) is not None:
        return 0
    due = watched.due(every, MOST_A_ROUND)
    if not due:
        return 0
    answer = imports.ask(due, Wish(FetchReason.SCHEDULE, every, reach))
    asked = len(due) - answer.fresh - answer.active
    log = structlog.get_logger().bind(due=len(due), asked=asked)
    log.info("schedule.asked")
    try:
        doorbell.publish(answer.jobs)
    except StreamUnavailable as silent:
        log.warning("doorbell.silent", error=str(silent))
    return asked
