"""The consumer group: never destroyed, and made at 0, so that nothing waiting is skipped."""

from redis import Redis
from redis.exceptions import ResponseError

from ppcfetch.adapters.redis.connections import command
from ppcfetch.adapters.redis.keys import GROUP


def ensure_group(client: Redis, stream: str) -> None:
    """Make the stream and its group if they are absent; raises the driver's errors."""
    try:
        command(client, "XGROUP", "CREATE", stream, GROUP, "0", "MKSTREAM")
    except ResponseError as exc:
        if not str(exc).startswith("BUSYGROUP"):
            raise
