"""Compare what our fetches stored with the archive's own truth."""

import subprocess
from collections.abc import Sequence

from ppcfetch.cli.incidents.rig import Rig


def wait_until_all_ended(
    rig: Rig, domains: Sequence[str], child: subprocess.Popen[bytes] | None = None
) -> None:
    """Return when every fetch of the domains has ended, well or not: `lost` tells which."""

    def left() -> str:
        return f"{len(still_open(rig, domains))} of {len(domains)} jobs are open"

    rig.wait(
        lambda: not still_open(rig, domains), "our workers have ended all jobs", child, left=left
    )


def still_open(rig: Rig, domains: Sequence[str]) -> list[str]:
    """Give the domains whose fetches have not ended."""
    ended = {one.domain for one in rig.ports.evidence.fetches(domains) if one.state != "active"}
    return [name for name in domains if name not in ended]


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
