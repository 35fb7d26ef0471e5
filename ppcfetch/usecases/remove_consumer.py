"""Remove a consumer's name from its pool's group, when nothing is lost by it."""

from ppcfetch.errors import NotFound
from ppcfetch.model.operation import Deed, consumer_target
from ppcfetch.ports import Audit, Consumers


def remove_consumer(name: str, deed: Deed, *, consumers: Consumers, audit: Audit) -> None:
    """Remove a consumer and keep the deed.

    Raises: Refused when it holds deliveries or a process bears its name; NotFound when no pool
    has it; DatabaseUnavailable when it is removed but the deed could not be kept.
    """
    if not consumers.remove_consumer(name):
        raise NotFound(f"no pool has a consumer {name}")
    audit.note(deed, consumer_target(name))
