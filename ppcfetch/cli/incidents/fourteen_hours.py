"""The fourteen-hour night: a message that everybody rescues from a worker that is well."""

from ppcfetch.cli.incidents.proof import asked_again, doubled, lost, wait_until_all_ended
from ppcfetch.cli.incidents.replay import Figures, Replay
from ppcfetch.cli.incidents.rig import Rig

WORKERS = 4
LONG_PAGES = 70
LONG = f"ads-{LONG_PAGES * 100}.example"
SHORT = [f"ads-{number}.example" for number in range(1, 11)]
LATENCY = 0.1
"""Of a lease, for each page: the long job takes a good seven leases."""
BUDGET = 2.0
"""Leases that one domain may hold an interactive worker."""
STORY = (
    "One job runs for many lease lengths. The usual worker takes over whatever was delivered a"
    " lease ago, so one after the other they all run it, and nobody is left for other jobs. Ours"
    " gives the rest to the bulk pool when its time is up: delivered again, never run by two at"
    " once."
)


def replay(rig: Rig) -> Replay:
    """Run a long job and ten short ones past the usual workers, then past ours."""
    rig.behave(latency_ms=round(rig.lease * LATENCY * 1000), domain=LONG)
    naive = _naive(rig)
    rig.forget_requests()
    ours = _ours(rig)
    rig.behave()
    shown = naive["workers_on_it_at_once"] == WORKERS
    return Replay("fourteen-hours", STORY, naive, ours, shown)


def _naive(rig: Rig) -> Figures:
    queue = rig.ports.naive("night")
    queue.join(at="0")
    workers = [
        rig.naive_worker("night", f"host-{number}", claim_seconds=rig.lease)
        for number in range(WORKERS)
    ]
    rig.wait(lambda: len(queue.pending()) == WORKERS, "the usual workers have started")
    queue.publish([LONG])
    # Where it ends before all have it, the replay says that the incident was not to be seen.
    rig.wait(
        lambda: queue.at_once(LONG) == WORKERS or queue.finished(),
        "all usual workers run the long job",
    )
    deliveries = queue.most_deliveries()
    queue.publish(SHORT)
    rig.wait(lambda: len(queue.finished()) == 1 + len(SHORT), "the usual workers have ended all")
    rig.stop(workers)
    waited = [seconds for name, seconds in queue.started().items() if name != LONG]
    return {
        "workers": WORKERS,
        "deliveries_of_the_long_job": deliveries,
        "workers_on_it_at_once": queue.at_once(LONG),
        "other_jobs": len(SHORT),
        "others_that_waited_a_lease": sum(1 for seconds in waited if seconds > rig.lease),
        "longest_wait_seconds": round(max(waited), 2),
        "archive_pages_asked_again": rig.pages_asked_again({LONG}),
        "lost": 1 + len(SHORT) - len(queue.finished()),
        "doubled": queue.pages_again(),
    }


def _ours(rig: Rig) -> Figures:
    budget = rig.lease * BUDGET
    workers = [
        rig.worker("interactive", host=f"night{number}", interactive_seconds=budget)
        for number in range(WORKERS - 1)
    ]
    workers.append(rig.worker("bulk", host="night"))
    rig.wait_for_workers()
    evidence = rig.ports.evidence
    rig.request([LONG])
    rig.wait(lambda: evidence.fetches([LONG])[0].pages > 1, "the long job has begun")
    rig.request(SHORT)
    wait_until_all_ended(rig, [LONG, *SHORT])
    rig.stop(workers)
    others = evidence.fetches(SHORT)
    waited = [one.waited for one in others if one.waited is not None]
    return {
        "workers": len(workers),
        "deliveries_of_the_long_job": evidence.fetches([LONG])[0].leases,
        "workers_on_it_at_once": evidence.at_once(LONG),
        "other_jobs": len(others),
        "others_that_waited_a_lease": sum(1 for seconds in waited if seconds > rig.lease),
        "longest_wait_seconds": round(max(waited), 2),
        "archive_pages_asked_again": asked_again(rig, [LONG]),
        "lost": lost(rig, [LONG, *SHORT]),
        "doubled": doubled(rig, [LONG, *SHORT]),
    }
