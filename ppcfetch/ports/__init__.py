"""What the use cases need from the outside, and what every adapter must keep to.

Every method may raise DatabaseUnavailable (stores) or StreamUnavailable (stream ports): then
nothing is known about the call, and each may be repeated safely unless its text says otherwise.
Times are aware UTC and come from the database clock, except where a port says otherwise.
"""

from ppcfetch.ports.accounts import NewUsers, PasswordRules
from ppcfetch.ports.following import Followers
from ppcfetch.ports.imports import Answered, Imports, Wish
from ppcfetch.ports.operations import Audit, Consumers, DeadLetters, Pauses
from ppcfetch.ports.outside import Archive, Clock, Pace
from ppcfetch.ports.requests import Asked, DomainSummary, Fetches, Request, Revived, Watching
from ppcfetch.ports.rows import Due, Jobs, Pages, Progress, Taking
from ppcfetch.ports.stream import Census, Deliveries, Doorbell, Settling
from ppcfetch.ports.watches import Watched, WatchLists
from ppcfetch.ports.work import (
    Handler,
    Name,
    Run,
    Schedule,
    SweepReport,
    WorkerPorts,
    nothing_scheduled,
)

__all__ = [
    "Answered",
    "Archive",
    "Asked",
    "Audit",
    "Census",
    "Clock",
    "Consumers",
    "DeadLetters",
    "Deliveries",
    "DomainSummary",
    "Doorbell",
    "Due",
    "Fetches",
    "Followers",
    "Handler",
    "Imports",
    "Jobs",
    "Name",
    "NewUsers",
    "Pace",
    "Pages",
    "PasswordRules",
    "Pauses",
    "Progress",
    "Request",
    "Revived",
    "Run",
    "Schedule",
    "Settling",
    "SweepReport",
    "Taking",
    "WatchLists",
    "Watched",
    "Watching",
    "Wish",
    "WorkerPorts",
    "nothing_scheduled",
]
