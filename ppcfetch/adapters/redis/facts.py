"""What Redis says of itself, for the doctor."""

from datetime import UTC, datetime, timedelta

from redis import Redis
from redis.exceptions import ResponseError

from ppcfetch.adapters.redis.connections import command, translated
from ppcfetch.adapters.redis.inspector import RedisInspector
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.model.health import RedisFacts


def redis_facts(client: Redis, keys: Keys) -> RedisFacts:
    """Ask for everything that the doctor judges. Raises: StreamUnavailable."""
    server = _section(client, "server")
    version = server.get("valkey_version") or server.get("redis_version") or "0"
    inspector = RedisInspector(client, keys)
    with translated():
        seconds, microseconds = (int(part) for part in command(client, "TIME"))
        epoch = client.get(keys.epoch)
    theirs = datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)
    return RedisFacts(
        kind="Valkey" if "valkey_version" in server else "Redis",
        version=tuple(int(part) for part in version.split(".") if part.isdigit()),
        policy=_section(client, "memory").get("maxmemory_policy"),
        persistent=_persistent(client),
        offset=theirs - datetime.now(UTC),
        epoch=epoch.decode() if isinstance(epoch, bytes) else None,
        lost=sum(
            one.holds for one in inspector.consumers() if inspector.bearer(one.name) is None
        ),
    )


def _persistent(client: Redis) -> bool | None:
    facts = _section(client, "persistence")
    if not facts:
        return None
    if facts.get("aof_enabled") == "1":
        return True
    try:
        with translated():
            saves = command(client, "CONFIG", "GET", "save")
    except Exception as exc:
        if isinstance(exc.__cause__, ResponseError):
            return None
        raise
    pairs = saves if isinstance(saves, list) else [part for pair in saves.items() for part in pair]
    return bool(pairs and pairs[1])


def _section(client: Redis, name: str) -> dict[str, str]:
    """Give one section of INFO, empty when we may not ask."""
    try:
        with translated():
            reply = command(client, "INFO", name)
    except Exception as exc:
        if isinstance(exc.__cause__, ResponseError):
            return {}
        raise
    if isinstance(reply, dict):
        return {str(key): str(value) for key, value in reply.items()}
    lines = (line.partition(":") for line in bytes(reply).decode().splitlines())
    return {key: value.strip() for key, colon, value in lines if colon}
