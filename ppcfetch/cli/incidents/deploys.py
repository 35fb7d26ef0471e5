"""Orders that vanished at every deploy: deliveries of consumer names that never come back."""

import signal
import subprocess
from collections.abc import Sequence

from ppcfetch.adapters.redis.naive import NaiveQueue
from ppcfetch.cli.incidents.proof import (
    asked_again,
    doubled,
    lost,
    still_open,
    wait_until_all_ended,
)
from ppcfetch.cli.incidents.replay import Figures, Replay
from ppcfetch.cli.incidents.rig import Rig

DEPLOYS = 5
EARLY = [f"ads-{number}.example" for number in range(401, 404)]
"""Asked for before the first worker ever starts."""
LOAD = [f"ads-{number}.example" for number in range(404, 404 + 2 * DEPLOYS + 2)]
LATENCY = 0.15
SIGNALS = (signal.SIGKILL, signal.SIGTERM)
HOST = "deploys"
STORY = (
    f"{DEPLOYS} deploys under load, each in the middle of a job. The usual worker is named host"
    " and process id, reads only what is new, and its group was made at $, behind what waited."
)


def replay(rig: Rig) -> Replay:
    """Deploy the usual worker again and again under load, then ours."""
    rig.behave(latency_ms=round(rig.lease * LATENCY * 1000))
    naive = _naive(rig)
    rig.forget_requests()
    ours = _ours(rig)
    rig.behave()
    shown = naive["lost"] >= len(EARLY) + DEPLOYS
    return Replay("deploys", STORY, naive, ours, shown)


def _naive(rig: Rig) -> Figures:
    queue = rig.ports.naive("deploys")
    queue.publish(EARLY)
    queue.join(at="$")
    load = list(LOAD)
    for number in range(DEPLOYS):
        worker = rig.naive_worker("deploys", f"{HOST}-{number}")
        before = len(queue.started())
        queue.publish([load.pop(), load.pop()])
        _wait_for_a_job(rig, queue, worker, before=before)
        rig.stop([worker], number=SIGNALS[number % len(SIGNALS)])
    last = f"{HOST}-{DEPLOYS}"
    worker = rig.naive_worker("deploys", last)
    queue.publish(load)
    rig.wait(
        lambda: queue.is_read() and queue.pending().get(last) == 0, "the last one is idle", worker
    )
    rig.stop([worker])
    ended, pending = queue.finished(), queue.pending()
    jobs = len(EARLY) + len(LOAD)
    return {
        "deploys": DEPLOYS,
        "jobs": jobs,
        "jobs_done": len(ended),
        "pending_for_ever": sum(pending.values()),
        "never_delivered": jobs - len(queue.started()),
        "consumer_names": len(pending),
        "archive_pages_asked_again": rig.pages_asked_again({*EARLY, *LOAD}),
        "lost": jobs - len(ended),
        "doubled": queue.pages_again(),
    }


def _wait_for_a_job(
    rig: Rig, queue: NaiveQueue, worker: subprocess.Popen[bytes], *, before: int
) -> None:
    rig.wait(lambda: len(queue.started()) > before, "a usual worker has begun a job", worker)


def _ours(rig: Rig) -> Figures:
    rig.request(EARLY)
    load, asked = list(LOAD), list(EARLY)
    for number in range(DEPLOYS):
        worker = _deploy(rig)
        new = [load.pop(), load.pop()]
        asked.extend(new)
        rig.request(new)
        rig.wait(lambda: _in_the_middle(rig, asked), "a job is in the middle", worker)
        rig.stop([worker], number=SIGNALS[number % len(SIGNALS)])
    worker = _deploy(rig)
    rig.request(load)
    jobs = [*EARLY, *LOAD]
    wait_until_all_ended(rig, jobs, worker)
    rig.stop([worker])
    fetches = rig.ports.evidence.fetches(jobs)
    mine = [one for one in rig.ports.inspector.consumers() if one.name.startswith(f"{HOST}.")]
    return {
        "deploys": DEPLOYS,
        "jobs": len(jobs),
        "jobs_done": sum(1 for one in fetches if one.state == "done"),
        "pending_for_ever": sum(one.held for one in mine),
        "never_delivered": sum(1 for one in fetches if not one.leases),
        "consumer_names": len(mine),
        "archive_pages_asked_again": asked_again(rig, jobs),
        "lost": lost(rig, jobs),
        "doubled": doubled(rig, jobs),
    }


def _deploy(rig: Rig) -> subprocess.Popen[bytes]:
    worker = rig.worker("interactive", host=HOST)
    rig.wait_for_workers()
    return worker


def _in_the_middle(rig: Rig, asked: Sequence[str]) -> bool:
    """Tell whether to deploy now; a worker that has ended all is too fast to be caught."""
    fetches = rig.ports.evidence.fetches(asked)
    caught = any(one.pages and one.state == "active" for one in fetches)
    return caught or not still_open(rig, asked)
