"""The simulation's own book-keeping: what counts as a cause for a start."""

from datetime import timedelta

from ppcfetch.model.lease import Limits
from tests.simulation.ledger import Ledger

LIMITS = Limits(
    lease=timedelta(seconds=4),
    renew=timedelta(seconds=1),
    stall=timedelta(seconds=12),
    max_starts=5,
    max_attempts=8,
)


def test_a_process_that_leaves_over_a_hung_handler_is_a_cause_at_that_time() -> None:
    times = iter([30.0])
    ledger = Ledger(LIMITS, now=lambda: next(times))
    ledger.fault("hang", until=12.0)

    ledger.left("host-0/bulk#1", began=5.0)

    assert not ledger.violations
    assert ledger.charges[-1] == (30.0, 1)
    assert ledger.faults == {"hang": 1}


def test_a_process_that_leaves_although_nothing_happened_to_it_is_a_violation() -> None:
    ledger = Ledger(LIMITS, now=lambda: 30.0)
    ledger.fault("hang", until=3.0)

    ledger.left("host-0/bulk#1", began=5.0)

    assert ledger.violations == ["L3: host-0/bulk#1 left without a cause since 5.00"]
