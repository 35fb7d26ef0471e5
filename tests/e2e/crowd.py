"""Many requests at once, in the names of several people, for tests of whose turn it is."""

from collections.abc import Iterable

from ppcfetch.adapters.database.engine import make_engine
from ppcfetch.adapters.database.fetches import PostgresFetches
from ppcfetch.adapters.redis.connections import connect
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.bootstrap.parts import LONGEST_ANSWER, LONGEST_BLOCK
from ppcfetch.model.admission import Admission
from ppcfetch.model.domain import DomainName
from ppcfetch.model.fetch import FetchReason
from ppcfetch.ports import Request
from ppcfetch.usecases.request_refresh import request_refresh
from tests.e2e.plant import Plant


def ask_for(
    plant: Plant, domains: Iterable[str], *, reason: FetchReason, who: int | None = None
) -> list[int]:
    """Ask for domains as the site and the commands do; gives their fetches, in order."""
    engine = make_engine(plant.database, application="crowd", pool_size=1)
    clients = connect(plant.redis, block=LONGEST_BLOCK, answer=LONGEST_ANSWER)
    try:
        admission = Admission(window=int(plant.settings.get("PPCFETCH_WINDOW", "32")))
        fetches = PostgresFetches(engine, admission)
        doorbell = RedisDoorbell(clients.rest, Keys())
        requests = [Request(DomainName(one), reason, asked_by=who) for one in domains]
        return [
            request_refresh(one, fetches=fetches, doorbell=doorbell).fetch.id for one in requests
        ]
    finally:
        clients.close()
        engine.dispose()
