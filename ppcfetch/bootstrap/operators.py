"""The bundle of operators' commands: they look at everything and change what may be changed."""

import os
import pwd
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from ppcfetch.adapters.database.audit import PostgresAudit
from ppcfetch.adapters.database.fetches import PostgresFetches
from ppcfetch.adapters.database.job_views import JobViews
from ppcfetch.adapters.database.pauses import PostgresPauses
from ppcfetch.adapters.database.row_facts import RowFactsReader
from ppcfetch.adapters.redis.census import RedisCensus
from ppcfetch.adapters.redis.dead_letters import DeadLetter, RedisDeadLetters
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.inspector import KnownConsumer, RedisInspector
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.bootstrap.addresses import find_addresses
from ppcfetch.bootstrap.explaining import Explaining
from ppcfetch.bootstrap.parts import open_engine, open_redis
from ppcfetch.errors import NotFound, StreamUnavailable
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import Fetch
from ppcfetch.model.job import JobState
from ppcfetch.model.job_view import JobView
from ppcfetch.model.operation import Deed, Noted, job_target
from ppcfetch.model.whereabouts import Explanation
from ppcfetch.ports import Audit, Pauses
from ppcfetch.settings import Settings
from ppcfetch.usecases.discard_dead import Discarded, discard_dead
from ppcfetch.usecases.remove_consumer import remove_consumer
from ppcfetch.usecases.retry_dead import Retried, retry_dead

PATIENCE = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class DeadJob:
    """A dead job with its letters and what operators did to it; no letters while Redis is away."""

    job: JobView
    letters: Sequence[DeadLetter]
    deeds: Sequence[Noted]


@dataclass(frozen=True, slots=True)
class OperatorPorts:
    """What operators may do; who is the name under which their deeds are kept."""

    who: str
    pauses: Pauses
    job_views: JobViews
    letters: RedisDeadLetters
    dead_job: Callable[[int], DeadJob]
    retry_dead: Callable[[Sequence[int], Deed], Sequence[Retried]]
    discard_dead: Callable[[Sequence[int], Deed], Sequence[Discarded]]
    fetch: Callable[[int], Fetch]
    explain_job: Callable[[int], Explanation]
    explain_domain: Callable[[DomainName], Sequence[Explanation]]
    consumers: Callable[[], Sequence[KnownConsumer]]
    remove_consumer: Callable[[str, Deed], None]


@contextmanager
def open_operators(settings: Settings) -> Iterator[OperatorPorts]:
    """Give the ports of operators' commands and close them at the end."""
    addresses, keys = find_addresses(settings), Keys()
    with ExitStack() as stack:
        work = open_engine(stack, addresses.database, "ppcfetch operator", size=2)
        redis = open_redis(stack, addresses.redis, patience=PATIENCE)
        fetches, views, audit = (
            PostgresFetches(work, settings.admission),
            JobViews(work),
            PostgresAudit(work),
        )
        letters = RedisDeadLetters(redis.rest, keys)
        inspector = RedisInspector(redis.rest, keys)
        explaining = Explaining(RowFactsReader(work), inspector, settings)
        yield OperatorPorts(
            who=_user(),
            pauses=PostgresPauses(work),
            job_views=views,
            letters=letters,
            dead_job=partial(_dead_job, views=views, letters=letters, audit=audit),
            retry_dead=partial(
                retry_dead,
                fetches=fetches,
                letters=letters,
                doorbell=RedisDoorbell(redis.rest, keys),
            ),
            discard_dead=partial(discard_dead, fetches=fetches, letters=letters),
            fetch=fetches.get,
            explain_job=explaining.job,
            explain_domain=explaining.domain,
            consumers=inspector.known_consumers,
            remove_consumer=partial(
                remove_consumer, consumers=RedisCensus(redis.rest, keys), audit=audit
            ),
        )


def _dead_job(job_id: int, *, views: JobViews, letters: RedisDeadLetters, audit: Audit) -> DeadJob:
    """Give a dead job's story. Raises: NotFound when there is no such dead job."""
    job = views.get(job_id)
    if job.state is not JobState.DEAD:
        raise NotFound(f"job {job_id} is not dead but {job.state}")
    try:
        found = letters.of_job(job_id)
    except StreamUnavailable:
        found = []
    return DeadJob(job, found, audit.about(job_target(job_id)))


def _user() -> str:
    """Give this process's user, whom no variable can rename."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # as in containers that run under a number
        return f"uid {os.getuid()}"
