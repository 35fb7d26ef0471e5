"""The bundle of operators' commands: they look at everything and change what may be changed."""

import os
import pwd
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta

from ppcfetch.adapters.database.pauses import PostgresPauses
from ppcfetch.bootstrap.addresses import find_addresses
from ppcfetch.bootstrap.parts import open_engine
from ppcfetch.ports import Pauses
from ppcfetch.settings import Settings

PATIENCE = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class OperatorPorts:
    """What operators may do; who is the name under which their deeds are kept."""

    who: str
    pauses: Pauses


@contextmanager
def open_operators(settings: Settings) -> Iterator[OperatorPorts]:
    """Give the ports of operators' commands and close them at the end."""
    addresses = find_addresses(settings)
    with ExitStack() as stack:
        work = open_engine(stack, addresses.database, "ppcfetch operator", size=2)
        yield OperatorPorts(who=_user(), pauses=PostgresPauses(work))


def _user() -> str:
    """Give this process's user, whom no variable can rename."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # as in containers that run under a number
        return f"uid {os.getuid()}"
