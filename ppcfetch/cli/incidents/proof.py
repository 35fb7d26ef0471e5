"""Compare what our fetches stored with the archive's own truth."""

from collections.abc import Sequence

from ppcfetch.cli.incidents.rig import Rig


def all_ended(rig: Rig, domains: Sequence[str]) -> bool:
    """Tell whether every fetch of the domains is done."""
    states = [one.state for one in rig.ports.evidence.fetches(domains)]
    return len(states) == len(domains) and set(states) == {"done"}


def lost(rig: Rig, domains: Sequence[str]) -> int:
    """Give how many domains were not read to the end, or lack an ad, or have one too many."""
    stored = rig.ports.evidence.stored(domains)
    done = {one.domain for one in rig.ports.evidence.fetches(domains) if one.state == "done"}
    return sum(1 for name in domains if name not in done or stored[name] != rig.truth(name))


def asked_again(rig: Rig, domains: Sequence[str]) -> int:
    """Give how many pages of walks were asked for once more.

    The first page is read again behind each longer walk, on purpose: that does not count.
    """
    looks = sum(one.looks for one in rig.ports.evidence.fetches(domains))
    return rig.pages_asked_again(set(domains)) - looks


def doubled(rig: Rig, domains: Sequence[str]) -> int:
    """Give how many ads were written more than once by accepted pages."""
    written = sum(one.ads for one in rig.ports.evidence.fetches(domains))
    return written - sum(len(rig.truth(name)) for name in domains)
