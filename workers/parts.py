"""The ports of one worker process, as the composition root hands them over."""

from dataclasses import dataclass

from ppcfetch.model.lease import Holder
from ppcfetch.ports import Clock, Deliveries, Handler, Jobs, Settling
from workers.heartbeat import Name
from workers.sweeper import Sweeper


@dataclass(frozen=True, slots=True)
class Parts:
    """The ports of one worker process.

    Shape: those named `beat_…` have connections of their own, so that no handler's statement
    and no blocking read can hold a renewal up.
    """

    holder: Holder
    name: Name
    jobs: Jobs
    beat_jobs: Jobs
    deliveries: Deliveries
    settling: Settling
    beat_settling: Settling
    sweeper: Sweeper
    handler: Handler
    clock: Clock
