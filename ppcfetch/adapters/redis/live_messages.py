"""All live messages of a pool: those that wait, and those in a hand."""

from collections.abc import Iterator

from redis import Redis

from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.adapters.redis.messages import decode
from ppcfetch.adapters.redis.scripts import STREAM, Scripts
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Token

MESSAGES_A_STEP = 500
FIRST = "0-0"


def live_messages(client: Redis, keys: Keys, pool: Pool) -> Iterator[Delivery]:
    """Walk through a pool's messages in order of their ids; consumer is empty while one waits.

    Shape: those of which nobody will ever be given anything are left out; job_id is None when
    a message cannot be read. An entry that was deleted under a consumer's hand is left out, too:
    its consumer or a reclaim acknowledges it away.
    Raises: StreamUnavailable.
    """
    scripts, stream, after = Scripts(client, STREAM), keys.stream(pool), FIRST
    while True:
        rows, after = scripts.run("live_messages", [stream], [after, MESSAGES_A_STEP])
        for message_id, owner, deliveries, fields in rows:
            token = Token(message_id.decode(), owner.decode(), deliveries)
            yield decode(pool, token, fields)
        after = after.decode()
        if after == FIRST:
            return
