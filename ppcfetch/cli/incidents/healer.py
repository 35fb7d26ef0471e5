"""The healer that fed itself: messages published again because they had waited for long."""

import time

from ppcfetch.cli.incidents.proof import doubled, lost, wait_until_all_ended
from ppcfetch.cli.incidents.replay import Figures, Replay
from ppcfetch.cli.incidents.rig import Rig
from ppcfetch.model.fetch import FetchReason
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Holder

JOBS = [f"ads-{number}.example" for number in range(201, 304)]
ROUNDS = 200
SWEEPERS = [Holder(f"healer{number}.bulk.1", number) for number in (1, 2, 3)]
PAUSE = 0.02
"""Leases between two rounds, far shorter than any job waits here."""
STORY = (
    f"No worker is alive, {len(JOBS)} jobs wait. The usual healer publishes again what has waited"
    f" for long; it does so {ROUNDS} times. Ours asks the stream what is there."
)


def replay(rig: Rig) -> Replay:
    """Heal a queue of 103 jobs without workers in both ways, then let our worker run them."""
    naive = _naive(rig)
    rig.forget_requests()
    ours = _ours(rig)
    shown = naive["messages"] > len(JOBS) * ROUNDS
    return Replay("healer", STORY, naive, ours, shown)


def _naive(rig: Rig) -> Figures:
    queue = rig.ports.naive("healer")
    queue.join(at="0")
    queue.publish(JOBS)
    for _ in range(ROUNDS):
        time.sleep(rig.lease * PAUSE)
        # Whatever has not begun by now has waited too long: "its message may be lost".
        begun = queue.started()
        queue.publish([name for name in JOBS if name not in begun])
    messages = queue.messages()
    return {
        "jobs": len(messages),
        "rounds_of_healing": ROUNDS,
        "messages": sum(messages.values()),
        "most_messages_of_one_job": max(messages.values()),
        "lost": len(JOBS) - len(messages),
        "doubled": sum(messages.values()) - len(messages),
    }


def _ours(rig: Rig) -> Figures:
    rig.request(JOBS, FetchReason.IMPORT)
    for number in range(ROUNDS):
        time.sleep(rig.lease * PAUSE)
        rig.ports.sweep(SWEEPERS[number % len(SWEEPERS)])
    counts = rig.ports.inspector.counts(Pool.BULK)
    rig.tell("A worker comes back to our queue …")
    worker = rig.worker("bulk", host="healer")
    rig.wait_for_workers()
    wait_until_all_ended(rig, JOBS, worker)
    rig.stop([worker])
    fetches = rig.ports.evidence.fetches(JOBS)
    return {
        "jobs": len(fetches),
        "rounds_of_healing": ROUNDS,
        "messages": counts.undelivered + counts.in_hand,
        "most_messages_of_one_job": max(one.leases for one in fetches),
        "lost": lost(rig, JOBS),
        "doubled": doubled(rig, JOBS),
    }
