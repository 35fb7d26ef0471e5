"""What each kind of fault does to processes, servers and people's work."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from ppcfetch.errors import (
    ArchiveBlocked,
    ArchiveRejected,
    ArchiveThrottled,
)
from ppcfetch.model.fetch import FetchState
from ppcfetch.model.job import JobState, Pool
from ppcfetch.model.operation import Pause
from tests.fakes_stream import show
from tests.simulation.faults import Fault
from tests.simulation.process import Process
from tests.simulation.servers import cut_body
from tests.simulation.wires import Server

if TYPE_CHECKING:
    from tests.simulation.fates import Fates


def pool_of(fault: Fault) -> Pool:
    """Give the pool that a fault meets."""
    return list(Pool)[int(fault.pick * len(Pool))]


# ---- to processes


def kill(fates: "Fates", fault: Fault, victim: Process) -> None:
    victim.die("killed")


def pause(fates: "Fates", fault: Fault, victim: Process) -> None:
    victim.paused_until = fates.world.scheduler.now + fault.length
    fates.lasts(fault.length, lambda: None)


def stop(fates: "Fates", fault: Fault, victim: Process) -> None:
    victim.stopping.set()


def stop_and_kill(fates: "Fates", fault: Fault, victim: Process) -> None:
    victim.stopping.set()
    fates.lasts(0.05 + fault.pick, lambda: victim.die("killed at the end of its grace"))


def partition(fates: "Fates", fault: Fault, victim: Process) -> None:
    server = Server.REDIS if fault.pick < 0.5 else Server.DATABASE
    way = int(fault.pick * 1000) % 3
    wire = victim.wires[server]
    if way != 0:
        wire.sends = False
    if way != 1:
        wire.receives = False

    def heal() -> None:
        wire.sends = wire.receives = True

    fates.lasts(fault.length, heal)


def expire_name(fates: "Fates", fault: Fault, victim: Process) -> None:
    """The lock is gone, and a deploy starts another process beside the first."""
    fates.world.redis.expire_name(victim.consumer)
    if fault.pick < 0.7:
        fates.world.start(victim.post)


# ---- to servers


def flush(fates: "Fates", fault: Fault) -> None:
    fates.world.redis.flushall()


def rewind(fates: "Fates", fault: Fault) -> None:
    backups = fates.world.backups
    fates.world.redis.rewind(backups[int(fault.pick * len(backups))])


def delete_stream(fates: "Fates", fault: Fault) -> None:
    fates.world.redis.delete_stream(pool_of(fault))


def destroy_group(fates: "Fates", fault: Fault) -> None:
    fates.world.redis.destroy_group(pool_of(fault))


def delete_consumer(fates: "Fates", fault: Fault) -> None:
    holding = [
        (pool, entry.consumer)
        for pool, stream in fates.world.redis.state.streams.items()
        if stream.group
        for entry in stream.group.pending.values()
    ]
    if holding:
        fates.world.redis.delete_consumer(*holding[int(fault.pick * len(holding))])


def delete_entry(fates: "Fates", fault: Fault) -> None:
    entries = [
        (pool, show(one))
        for pool, stream in fates.world.redis.state.streams.items()
        for one in stream.entries
    ]
    if entries:
        fates.world.redis.delete_entry(*entries[int(fault.pick * len(entries))])


def database_away(fates: "Fates", fault: Fault) -> None:
    fates.is_out("database", fault.length)


def redis_away(fates: "Fates", fault: Fault) -> None:
    fates.is_out("redis", fault.length)


def redis_full(fates: "Fates", fault: Fault) -> None:
    fates.is_out("memory", fault.length)


def archive(fates: "Fates", fault: Fault) -> None:
    rest = timedelta(seconds=int(4 + 9 * fault.pick) + 0.5)
    answers: dict[str, list[Exception]] = {
        "archive unavailable": [cut_body() for _ in range(1 + int(fault.pick * 7))],
        "archive throttled": [ArchiveThrottled("429", retry_after=rest)],
        "archive blocked": [ArchiveBlocked("captcha")] * 2,
        "archive rejects": [ArchiveRejected("400")],
    }
    fates.world.archive.answers += answers[fault.kind]


def cancel(fates: "Fates", fault: Fault) -> None:
    fetches = fates.world.database.fetches.values()
    active = [one.id for one in fetches if one.state is FetchState.ACTIVE]
    if active:
        fetch_id = active[int(fault.pick * len(active))]
        fates.later(0, lambda: fates.world.site_database.cancel(fetch_id))


def retry(fates: "Fates", fault: Fault) -> None:
    def retry() -> None:
        for job_id, row in sorted(fates.world.database.jobs.items()):
            if row.job.state is JobState.DEAD:
                fates.world.ledger.retried(job_id)
                revived = fates.world.site_database.retry(job_id)
                fates.world.site_redis.publish(revived.jobs)

    fates.later(0, retry)


def pause_pool(fates: "Fates", fault: Fault) -> None:
    database, pool = fates.world.database, pool_of(fault)
    if pool not in database.pauses:
        database.pauses[pool] = Pause(pool, database.moment(), "operator")
        fates.lasts(fault.length, lambda: database.pauses.pop(pool))


def rubbish(fates: "Fates", fault: Fault) -> None:
    fates.world.redis.add_rubbish(pool_of(fault), b"{not json")


BY_PROCESS: dict[str, Callable[["Fates", Fault, Process], None]] = {
    "kill": kill,
    "pause": pause,
    "stop": stop,
    "stop and kill": stop_and_kill,
    "partition": partition,
    "name expired": expire_name,
}
BY_SERVER: dict[str, Callable[["Fates", Fault], None]] = {
    "flush": flush,
    "rewind": rewind,
    "stream deleted": delete_stream,
    "group destroyed": destroy_group,
    "consumer deleted": delete_consumer,
    "entry deleted": delete_entry,
    "database away": database_away,
    "redis away": redis_away,
    "redis full": redis_full,
    "archive unavailable": archive,
    "archive throttled": archive,
    "archive blocked": archive,
    "archive rejects": archive,
    "cancel": cancel,
    "retry": retry,
    "pool paused": pause_pool,
    "rubbish": rubbish,
}
