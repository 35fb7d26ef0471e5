"""The Lua steps, ready to be called on one client. Each changes everything it changes at once."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from redis import Redis

from ppcfetch.adapters.redis.connections import translated

PRELUDE = "prelude.lua"
STREAM = "stream"
PACE = "pace"

Argument = str | bytes | int | float


class Scripts:
    """The steps of one subject on one client, by the names of their files without the ending."""

    def __init__(self, client: Redis, subject: str) -> None:
        folder = files("ppcfetch.adapters.redis") / "scripts" / subject
        prelude = (folder / PRELUDE).read_text(encoding="utf-8")
        self._steps = {
            file.name.removesuffix(".lua"): client.register_script(
                prelude + file.read_text(encoding="utf-8")
            )
            for file in folder.iterdir()
            if file.name.endswith(".lua") and file.name != PRELUDE
        }

    def run(self, step: str, keys: Sequence[str], arguments: Sequence[Argument] = ()) -> Any:
        """Give the reply of a step, loaded again by itself when the server has forgotten it.

        Raises: StreamUnavailable.
        """
        with translated():
            return self._steps[step](keys=list(keys), args=list(arguments))
