"""A fetch in a line for the terminal."""

from ppcfetch.model.fetch import Fetch, told_kind

SHRUNK = "Next to nothing was found of what was there; nothing is concluded from that."


def told_fetch(fetch: Fetch) -> str:
    """Say which kind a fetch is, where it is and what it found."""
    return (
        f"Fetch {fetch.id}: {fetch.state}; {told_kind(fetch)}; {fetch.pages:,} pages,"
        f" {fetch.found:,} ads, {fetch.new:,} new, {fetch.changed:,} changed"
        + (f", {fetch.unseen:,} not seen" if fetch.unseen is not None else "")
        + (f", {fetch.warnings:,} warnings" if fetch.warnings else "")
        + (f" ({fetch.error})" if fetch.error else "")
    )


def fetch_row(fetch: Fetch) -> dict[str, object]:
    """Give what a list of fetches shows of one."""
    odd = [fetch.error] if fetch.error else []
    if fetch.shrunk:
        odd.append("next to nothing was found of what was there")
    return {
        "fetch": fetch.id,
        "domain": str(fetch.domain),
        "state": str(fetch.state),
        "kind": told_kind(fetch),
        "asked_at": fetch.asked_at,
        "pages": fetch.pages,
        "ads": fetch.found,
        "odd": "; ".join(odd) or None,
    }
