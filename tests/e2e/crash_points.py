"""The moments at which a worker is made to crash, and the step of the protocol each belongs to."""

from dataclasses import dataclass, field

ACTIONS = ("kill", "stop", "term")


@dataclass(frozen=True)
class Point:
    """One moment.

    Shape: setting is what has to be so that it comes: `plain`, `asked` (to stop), `spill` (the
    budget is small), `exhausted` (starts used up), `abandoned` and `history` (somebody holds
    the message), `lost` (the answer of a read), `split` (the domain is large enough). count is
    which of its comings is meant.
    """

    name: str
    setting: str = "plain"
    count: int = 1
    short: bool = field(default=False, compare=False)


STEPS: dict[str, tuple[Point, ...]] = {
    "publish": (
        Point("before/doorbell.publish"),
        Point("after/doorbell.publish", short=True),
    ),
    "receive": (
        Point("before/deliveries.receive"),
        Point("after/deliveries.receive", short=True),
        Point("before/deliveries.accept"),
        Point("after/deliveries.accept"),
        Point("before/deliveries.history"),
        Point("after/deliveries.history", "history", short=True),
        Point("before/name.keep"),
        Point("after/name.keep"),
    ),
    "take_lease": (
        Point("before/jobs.take"),
        # One statement is a commit by itself; a job whose starts are used up takes more.
        Point("commit/jobs.take", "exhausted"),
        Point("after/jobs.take", short=True),
    ),
    "renew": (
        Point("before/beat_jobs.beat"),
        Point("commit/beat_jobs.beat"),
        Point("after/beat_jobs.beat", short=True),
        Point("before/beat_settling.renew"),
        Point("after/beat_settling.renew", short=True),
    ),
    "reclaim": (
        Point("before/deliveries.abandoned"),
        Point("after/deliveries.abandoned", "abandoned"),
        Point("before/jobs.vetoed", "abandoned"),
        Point("after/jobs.vetoed", "abandoned"),
        Point("before/deliveries.claim", "abandoned"),
        Point("after/deliveries.claim", "abandoned", short=True),
    ),
    "write": (
        Point("before/pace.ask"),
        Point("after/pace.ask"),
        Point("before/archive.page", count=2, short=True),
        Point("after/archive.page", count=2),
        Point("before/pace.went_well", count=2),
        Point("after/pace.went_well", count=2),
        Point("before/pages.write_page", count=2, short=True),
        # The other domain's only page is committed first.
        Point("commit/pages.write_page", count=3, short=True),
        Point("after/pages.write_page", count=2, short=True),
    ),
    "end of a job": (
        Point("commit/pages.write_page", count=7),
        Point("before/settling.settle"),
    ),
    "settle": (
        Point("before/settling.settle", short=True),
        Point("after/settling.settle", short=True),
    ),
    "hand back": (
        Point("before/beat_jobs.give_back_starts", "asked"),
        Point("commit/beat_jobs.give_back_starts", "asked"),
        Point("after/beat_jobs.give_back_starts", "asked"),
        Point("before/jobs.settle", "asked"),
        Point("commit/jobs.settle", "asked"),
        Point("after/jobs.settle", "asked", short=True),
        Point("before/settling.move", "asked"),
        Point("after/settling.move", "asked"),
    ),
    "spill": (
        Point("before/jobs.settle", "spill"),
        Point("commit/jobs.settle", "spill"),
        Point("before/due.admit", "spill", short=True),
        Point("after/due.admit", "spill", short=True),
        Point("commit/due.admit", "spill"),
    ),
    "split": (
        # Behind the first page, while it is asked what the archive's filters mean.
        Point("before/archive.page", "split", count=3),
        Point("before/pages.write_page", "split", count=2),
        Point("commit/pages.write_page", "split", count=2, short=True),
        Point("after/pages.write_page", "split", count=2, short=True),
        # The parts are let in, and do not ring yet.
        Point("commit/due.admit", "split"),
        Point("after/due.admit", "split", short=True),
    ),
    "top up": (
        # The last page of the longer walk queues it; nobody else waits for a turn.
        Point("commit/pages.write_page", count=6),
        Point("commit/due.admit"),
        Point("after/due.admit", short=True),
    ),
    "dead letter": (
        Point("before/settling.dead_letter", "exhausted", short=True),
        Point("after/settling.dead_letter", "exhausted"),
    ),
    "reconcile": (
        Point("before/deliveries.reconcile", "lost"),
        Point("after/deliveries.reconcile", "lost", short=True),
    ),
    "sweep": (
        Point("before/due.take_turn"),
        Point("commit/due.take_turn"),
        Point("after/due.take_turn"),
        Point("before/due.unrung"),
        Point("after/due.unrung", short=True),
        Point("before/census.delete_orphans"),
        Point("after/census.delete_orphans"),
        Point("before/due.close_idle_fetches"),
        Point("after/due.close_idle_fetches"),
        Point("before/due.prune"),
        Point("after/due.prune"),
    ),
    "forget a consumer": (
        Point("before/census.forget_consumers"),
        Point("after/census.forget_consumers"),
    ),
    "data loss": (
        Point("before/due.epoch"),
        Point("after/due.epoch"),
        Point("before/census.epoch"),
        Point("after/census.epoch"),
        Point("before/census.ensure_groups"),
        Point("after/census.ensure_groups", short=True),
        Point("before/census.restore"),
        Point("after/census.restore"),
    ),
}
"""The points of each step that a worker takes, in the order of the protocol's description."""

ELSEWHERE = {
    "cancel": "the site's, one transaction; a worker meets it as a lost lease",
}
"""The steps without a point in a worker."""


def points(*, short: bool) -> list[Point]:
    """Give the points of the short or of the whole matrix, each once."""
    found = dict.fromkeys(point for step in STEPS.values() for point in step if point.short)
    rest = dict.fromkeys(point for step in STEPS.values() for point in step)
    return list(found if short else rest)
