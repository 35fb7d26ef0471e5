"""What Redis says of itself, for the doctor."""

from datetime import UTC, datetime, timedelta
from typing import Any

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
        lost=sum(one.held for one in inspector.consumers() if inspector.bearer(one.name) is None),
    )


def _persistent(client: Redis) -> bool | None:
    facts = _section(client, "persistence")
    if not facts:
        return None
    if facts.get("aof_enabled") == "1":
        return True
    saves = _allowed(client, "CONFIG", "GET", "save")
    if saves is None:
        return None
    pairs = saves if isinstance(saves, list) else [part for pair in saves.items() for part in pair]
    return bool(pairs and pairs[1])


def _section(client: Redis, name: str) -> dict[str, str]:
    """Give one section of INFO, empty when we may not ask."""
    reply = _allowed(client, "INFO", name)
    if reply is None:
        return {}
    if isinstance(reply, dict):
        return {str(key): str(value) for key, value in reply.items()}
    lines = (line.partition(":") for line in bytes(reply).decode().splitlines())
    return {key: value.strip() for key, colon, value in lines if colon}


def _allowed(client: Redis, *words: str) -> Any:
    """Give the reply to a command, None when this user may not send it."""
    with translated():
        try:
            return command(client, *words)
        except ResponseError:
            return None
