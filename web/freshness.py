"""The freshness bar: one sentence on how old the page is, and the one thing to do about it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from markupsafe import Markup, escape

from ppcfetch.model.fetch import Fetch, FetchState, Freshness
from ppcfetch.model.following import Company
from ppcfetch.model.page import Waiting
from ppcfetch.model.unexpected import for_strangers
from web.estimates import left_of, pages_of, wait_of
from web.text import ago, lasting, number, plain, plural, time_tag

NOTHING = Markup()
RECENTLY = timedelta(minutes=10)
"""How long a page that is opened still tells how the last fetch went."""


class Action(StrEnum):
    """What the bar's button does."""

    NOTHING = "nothing"
    REFRESH = "refresh"
    SIGN_IN = "sign in"
    CANCEL = "cancel"
    JOIN = "join"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who looks at the bar.

    Shape: user_id is None for a visitor; may_force lets an operator refresh a fresh domain and
    stop a fetch of others; company is his part in the fetch that is under way.
    """

    user_id: int | None = None
    may_force: bool = False
    company: Company = Company()  # noqa: RUF009 - frozen


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything the bar is decided by, as read at one moment.

    Shape: latest is the domain's newest fetch, None when there was none; waiting tells about
    its job while it is active.
    """

    held: int
    freshness: Freshness
    latest: Fetch | None
    waiting: Waiting
    now: datetime
    window: timedelta


@dataclass(frozen=True, slots=True)
class Bar:
    """What the bar shows.

    Shape: state names the row of the table for scripts and tests; tone is "", "warn" or "bad";
    progress is (pages read, pages expected); every is the seconds until the next look, None
    when nothing will change by itself.
    """

    state: str
    headline: str | Markup
    detail: Markup = NOTHING
    action: Action = Action.NOTHING
    label: str = ""
    tone: str = ""
    asks: bool = False
    progress: tuple[int, int] | None = None
    every: int | None = None
    fetch_id: int | None = None

    @property
    def said(self) -> str:
        """The sentence for a screen reader, without markup."""
        parts = (escape(self.headline).striptags(), self.detail.striptags())
        return ", ".join(part for part in parts if part)


def bar_for(at: Situation, reader: Reader) -> Bar:
    """Decide the bar."""
    latest = at.latest
    if latest is not None and latest.state is FetchState.ACTIVE:
        return _active(at, latest, reader)
    asked = replace(_settled(at, latest), fetch_id=latest.id if latest else None)
    return _with_button(asked, at, reader)


def next_look(age: timedelta) -> int:
    """Give the seconds until a running fetch is looked at again: less often the longer it runs."""
    if age < timedelta(seconds=10):
        return 1
    return 2 if age < timedelta(minutes=1) else 5


def _active(at: Situation, fetch: Fetch, reader: Reader) -> Bar:
    if reader.may_force or reader.company.follows:
        bar = _under_way(at, fetch, Action.CANCEL)
        leaves = reader.company.goes_on and not reader.may_force
        return replace(bar, label="Leave") if leaves else bar
    action = Action.NOTHING if reader.user_id is None else Action.JOIN
    return replace(_under_way(at, fetch, action), label="Join")


def _under_way(at: Situation, fetch: Fetch, action: Action) -> Bar:
    every = next_look(at.now - fetch.asked_at)
    if at.waiting.resumes_at is not None and at.waiting.resumes_at > at.now:
        return _resting(at.waiting, fetch, every=every, action=action)
    if fetch.pages == 0 or at.waiting.ahead is not None:
        return _queued(at, fetch, every=every, action=action)
    return _running(at, fetch, every=every, action=action)


def _queued(at: Situation, fetch: Fetch, *, every: int, action: Action) -> Bar:
    place = at.waiting.ahead
    if place is None:
        state, headline, detail = "starting", "Asking the archive", "the first page is on its way"
    else:
        state, headline = "queued", f"{_ordinal(place + 1)} in line"
        detail = wait_of(at.waiting)
    kept = f"{plural(fetch.found, 'ad')} so far" if fetch.found else ""
    return Bar(
        state=state,
        headline=headline,
        detail=_joined(kept, detail),
        action=action,
        label="Stop and keep" if fetch.found else "Cancel",
        every=every,
        fetch_id=fetch.id,
    )


def _running(at: Situation, fetch: Fetch, *, every: int, action: Action) -> Bar:
    least, most = pages_of(fetch)
    page = fetch.pages + 1
    so_far = f"{plural(fetch.found, 'ad')} so far, {number(fetch.new)} new"
    return Bar(
        state="running",
        headline=f"Page {number(page)}{_of_pages(page, least, most)}",
        detail=_joined(so_far, left_of(fetch, at.now)),
        action=action,
        label="Stop and keep",
        progress=(fetch.pages, max(least, page)) if most else None,
        every=every,
        fetch_id=fetch.id,
    )


def _of_pages(page: int, least: int, most: int) -> str:
    """Give what the archive's range leaves open: most walks end near its lower end."""
    if page > most:
        return ""
    if page > least:
        return f" of up to {number(most)}"
    return (
        f" of about {number(most)}" if least == most else f" of {number(least)} to {number(most)}"
    )


def _resting(waiting: Waiting, fetch: Fetch, *, every: int, action: Action) -> Bar:
    until = waiting.resumes_at or fetch.asked_at
    moment = time_tag(until, f"{until:%H:%M:%S} UTC")
    again = Markup("trying again at {}").format(moment)
    below = "results so far are below" if fetch.found else ""
    return Bar(
        state="resting",
        headline="The archive makes us wait",
        detail=_joined(again, plain(for_strangers(waiting.error)), below),
        action=action,
        label="Stop and keep" if fetch.found else "Cancel",
        tone="warn",
        every=max(every, 2),
        fetch_id=fetch.id,
    )


def _settled(at: Situation, latest: Fetch | None) -> Bar:
    match latest.state if latest else None:
        case None:
            return _never_asked(at)
        case FetchState.FAILED:
            return _failed(at, latest)
        case FetchState.PARTIAL:
            return _partial(latest)
        case FetchState.CANCELLED:
            return _cancelled(latest)
        case _:
            return _read_to_its_end(at, latest)


def _never_asked(at: Situation) -> Bar:
    if at.freshness.checked_at is not None:
        return _aged(at, at.freshness.checked_at)
    return Bar("unknown", "Never checked", _joined("nobody has looked this domain up yet"))


def _failed(at: Situation, latest: Fetch | None) -> Bar:
    reference = Markup("reference {}").format(latest.id if latest else "–")
    checked = at.freshness.checked_at
    showing = Markup("showing {}").format(time_tag(checked)) if checked else NOTHING
    return Bar("failed", "The archive could not be read", _joined(reference, showing), tone="bad")


def _partial(latest: Fetch | None) -> Bar:
    kept = plural(latest.found, "ad") if latest else ""
    rest = "the rest could not be read"
    return Bar("partial", f"Kept {kept}", _joined(rest), tone="warn", label="Try the rest")


def _cancelled(latest: Fetch | None) -> Bar:
    kept = f"{plural(latest.found, 'ad')} read until then were kept" if latest else ""
    return Bar("cancelled", "Stopped on request", _joined(kept), tone="warn")


def _read_to_its_end(at: Situation, latest: Fetch | None) -> Bar:
    ended = latest.finished_at if latest else None
    checked = at.freshness.checked_at or ended
    if latest is None or checked is None:
        return _never_asked(at)
    if at.held == 0:
        asked = Markup("asked {}").format(time_tag(checked, ago(checked, at.now)))
        behind = "ads behind a log-in are not visible to us"
        return Bar("none", "The archive lists no ads for this domain", _joined(asked, behind))
    if latest.shrunk:
        return _shrunk(latest)
    if ended is not None and at.now - ended < RECENTLY:
        return _done(latest)
    return _aged(at, checked)


def _shrunk(fetch: Fetch) -> Bar:
    found = f"only {plural(fetch.found, 'ad')} of what was there before"
    kept = "what we hold was kept, and the next check reads everything again"
    headline = "The archive showed next to nothing"
    return Bar("shrunk", headline, _joined(found, kept), tone="warn", fetch_id=fetch.id)


def _done(fetch: Fetch) -> Bar:
    took = (fetch.finished_at or fetch.asked_at) - fetch.asked_at
    parts = [f"{number(fetch.new)} new", f"{number(fetch.changed)} changed"]
    if fetch.unseen is not None:
        parts.append(f"{number(fetch.unseen)} not seen")
    return Bar("done", f"Done in {lasting(took)}", _joined(", ".join(parts)), fetch_id=fetch.id)


def _aged(at: Situation, checked: datetime) -> Bar:
    age = time_tag(checked, ago(checked, at.now))
    if at.freshness.is_stale(at.now, at.window):
        return Bar("stale", f"Last checked {ago(checked, at.now)}", _on(checked), tone="warn")
    held = f"{plural(at.held, 'ad')} held"
    due = checked + at.window
    upcoming = Markup("next check from {}").format(time_tag(due, f"{due:%-d %b, %H:%M} UTC"))
    headline = Markup("Checked {}").format(age)
    return Bar("fresh", headline, _joined(held, upcoming))


def _with_button(bar: Bar, at: Situation, reader: Reader) -> Bar:
    stale = at.freshness.is_stale(at.now, at.window)
    if not stale and not reader.may_force:
        return bar
    if reader.user_id is None:
        word = "check" if bar.state == "unknown" else "refresh"
        return replace(bar, action=Action.SIGN_IN, label=f"Sign in to {word}")
    labels = {"unknown": "Check now", "none": "Ask again", "partial": "Try the rest"}
    failed = {"failed": "Try again", "cancelled": "Try again"}
    label = (labels | failed).get(bar.state, "Refresh")
    asks = stale and at.freshness.asks_by_itself(at.now, at.window)
    return replace(bar, action=Action.REFRESH, label=label, asks=asks)


def _on(moment: datetime) -> Markup:
    return Markup("on {}").format(time_tag(moment))


def _joined(*parts: str | Markup) -> Markup:
    return Markup(" · ").join(part for part in parts if part)


def _ordinal(place: int) -> str:
    ending = "th" if 10 <= place % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")  # noqa: PLR2004 - English
    return f"{place:,}{ending}"
