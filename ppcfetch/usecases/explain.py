"""Explain why a job is where it is, and what happens next; facts in, words out.

Each reason that holds is named; what happens next is said by the one that holds longest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from ppcfetch.model.job import JobState
from ppcfetch.model.operation import Pause
from ppcfetch.model.whereabouts import Explanation, Rhythm, RowFacts, StreamFacts
from ppcfetch.usecases.explain_words import length, moment, place_of

NOTHING = timedelta(0)


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing in a job's way, and what ends it."""

    why: str
    then: str


def explain(row: RowFacts, stream: StreamFacts | None, rhythm: Rhythm) -> Explanation:
    """Tell where a job is, since when, who holds it, why it does not run, and what comes next.

    Shape: stream is None when Redis does not answer.
    """
    match row.job.state:
        case JobState.QUEUED:
            return _queued(row, stream, rhythm)
        case JobState.RUNNING:
            return _running(row, stream, rhythm)
        case JobState.DEAD:
            return _dead(row)
    told = "it is over"
    return Explanation(row.job, f"ended as {row.job.state}", row.job.finished_at, (), told)


def _queued(row: RowFacts, stream: StreamFacts | None, rhythm: Rhythm) -> Explanation:
    job = row.job
    is_due = job.due_at <= row.now
    reasons = list(_in_the_way(row, stream, rhythm))
    if is_due and not row.admitted:
        reasons.append(_turn(row))
    elif stream is not None and is_due:
        reasons.append(_in_line(row, stream, rhythm))
    return Explanation(
        job,
        place_of(stream),
        max(job.due_at, job.created_at) if is_due else job.beat_at or job.created_at,
        tuple(reason.why for reason in reasons),
        reasons[0].then,
    )


def _in_the_way(row: RowFacts, stream: StreamFacts | None, rhythm: Rhythm) -> Iterator[Reason]:
    """Give what keeps any worker from taking a job, the worst first."""
    pool, due = row.job.pool, row.job.due_at
    if stream is None:
        then = f"start Redis; a sweep then publishes it within {length(rhythm.sweep)}"
        yield Reason("Redis does not answer, so nothing is handed out", then)
    elif not stream.workers:
        then = f"start one: ppcfetch worker --pool {pool}"
        yield Reason(f"no worker of the pool {pool} is alive", then)
    if row.pause is not None:
        yield Reason(_paused(row.pause), f"nothing until somebody says: ppcfetch resume {pool}")
    rest = stream.rest if stream is not None else NOTHING
    if row.job.state is JobState.QUEUED and due > row.now:
        then = f"it is due at {moment(due)}; a sweep publishes it within {length(rhythm.sweep)}"
        yield Reason(_not_due(row, rest, rhythm), then)
    elif rest:
        until = moment(row.now + rest)
        yield Reason(f"the archive rests until {until}", "taken before then, it is put back")


def _paused(pause: Pause) -> str:
    why = f": {pause.reason}" if pause.reason else ""
    return f"the pool {pause.pool} is paused since {moment(pause.since)} by {pause.by}{why}"


def _not_due(row: RowFacts, rest: timedelta, rhythm: Rhythm) -> str:
    job = row.job
    error = f": {job.error}" if job.error else ""
    until = f"not due until {moment(job.due_at)}"
    if rest:
        return f"{until}; the archive rests until {moment(row.now + rest)}{error}"
    if job.attempts:
        count = f"{job.attempts} of {rhythm.max_attempts}"
        return f"{until}: back-off after attempt {count}{error}"
    return f"{until}: the archive or our own pace asked to wait{error}"


def _turn(row: RowFacts) -> Reason:
    """Give whose turn a job waits for: it has no message before it comes."""
    why = f"waits for its turn: {row.ahead:,} of the same asker before it"
    then = f"let in when the pool {row.job.pool} has room; those who asked take turns"
    return Reason(why, then)


def _in_line(row: RowFacts, stream: StreamFacts, rhythm: Rhythm) -> Reason:
    """Give where a due job stands when nothing else is in its way."""
    job, message = row.job, stream.message
    if message is None:
        return Reason("nothing rings for it yet", _swept(rhythm))
    if message.pool is not job.pool:
        why = f"its message is in the stream of {message.pool}, its row in {job.pool}"
        return Reason(why, f"the worker that gets it moves it to {job.pool}")
    if message.consumer is not None:
        why = f"{message.consumer} got its message and has not begun"
        left = max(rhythm.lease - message.idle, NOTHING)
        return Reason(why, f"else another worker claims it in {length(left + rhythm.renew)}")
    if row.ahead:
        return Reason(f"{row.ahead:,} ahead of it", "a worker takes it when they are done")
    return Reason("next in line", "a worker takes it as soon as a slot is free")


def _running(row: RowFacts, stream: StreamFacts | None, rhythm: Rhythm) -> Explanation:
    job = row.job
    beat = job.beat_at or job.created_at
    lapsed = beat + rhythm.lease <= row.now
    reasons = list((_after_lapse if lapsed else _while_held)(row, stream, rhythm))
    moved = _last_moved(row)
    return Explanation(
        job,
        place_of(stream),
        job.taken_at,
        tuple(reason.why for reason in reasons),
        reasons[0].then if reasons else f"it stores page {job.pages + 1:,}",
        holder=f"{job.holder} (incarnation {job.incarnation})",
        beat_age=row.now - beat,
        progress_age=None if moved is None else row.now - moved,
    )


def _while_held(row: RowFacts, stream: StreamFacts | None, rhythm: Rhythm) -> Iterator[Reason]:
    """Give what is strange about a lease that has not lapsed."""
    job, now = row.job, row.now
    beat = job.beat_at or job.created_at
    lapse = f"its lease lapses at {moment(beat + rhythm.lease)}; then another worker goes on"
    if stream is not None and stream.bearer != job.incarnation:
        yield Reason(f"no process bears {job.holder} as incarnation {job.incarnation}", lapse)
    elif now - beat > 2 * rhythm.renew:
        why = f"held by a sleeper: no beat for {length(now - beat)}"
        yield Reason(why, f"unless it beats, {lapse}")
    if row.pause is not None:
        yield Reason(_paused(row.pause), "it stores the page in hand and is handed back")
    if stream is not None and stream.rest:
        why = f"the archive rests until {moment(now + stream.rest)}"
        yield Reason(why, "it waits, or is put back if that is longer than a lease")
    moved = _last_moved(row)
    if moved is not None and now - moved > rhythm.lease:
        why = f"no page was stored for {length(now - moved)}"
        end = moment(moved + rhythm.stall)
        yield Reason(why, f"without one until {end} it is beaten no more, and its lease lapses")


def _after_lapse(row: RowFacts, stream: StreamFacts | None, rhythm: Rhythm) -> Iterator[Reason]:
    """Give what a lapsed lease waits for."""
    job = row.job
    beat = job.beat_at or job.created_at
    yield from _in_the_way(row, stream, rhythm)
    why = f"the lease of {job.holder} lapsed at {moment(beat + rhythm.lease)}"
    message = stream.message if stream is not None else None
    if stream is not None and message is None:
        yield Reason(f"{why}, and nothing rings for it", _swept(rhythm))
    elif message is None or message.consumer is None:
        yield Reason(why, "the worker that gets its message goes on from the last stored page")
    else:
        left = max(rhythm.lease - message.idle, NOTHING) + rhythm.renew
        yield Reason(why, f"another worker claims its message in {length(left)} at the latest")


def _swept(rhythm: Rhythm) -> str:
    return f"a sweep publishes it within {length(rhythm.sweep)}"


def _last_moved(row: RowFacts) -> datetime | None:
    return max(filter(None, (row.job.progressed_at, row.job.taken_at)), default=None)


def _dead(row: RowFacts) -> Explanation:
    job = row.job
    why = [job.error or "no reason was kept"]
    if job.discarded_at is not None:
        why.append(f"put aside by an operator at {moment(job.discarded_at)}")
    then = f"nothing by itself; again from page {job.pages + 1:,}: ppcfetch dead retry {job.id}"
    return Explanation(job, "among the dead", job.finished_at, tuple(why), then)
