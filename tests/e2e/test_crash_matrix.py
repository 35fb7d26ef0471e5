"""Every step of the protocol, crashed at each of its edges, in three ways, in real processes.

`SOAK=1` crashes at all points, else those that matter most; each case has a database and a
Redis database of its own and runs beside others, since it mostly waits.
"""

import inspect
import json
import os
import re
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any, get_type_hints

import pytest

from ppcfetch import ports
from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from ppcfetch.ports import WorkerPorts
from tests.e2e.crash_case import Case, Lane, Late, NotReached, Took
from tests.e2e.crash_points import ACTIONS, STEPS, Point, points
from tests.e2e.crashing_worker import HANDLER, WATCHED
from tests.e2e.nursery import nursery
from tests.e2e.plant import Plant
from tests.servers import Databases, flush, heal

LANES = 4
TRIES = 3
ARCHIVE_LATENCY_MS = 100
SHORT = os.environ.get("SOAK") != "1"
FIRST_SIZE = 401
FIRST_LONG = 2501
FIRST_TO_SPLIT = 201

NEVER_CALLED = {
    "jobs": {"next_incarnation", "beat", "give_back_starts"},
    "beat_jobs": {"next_incarnation", "take", "settle", "vetoed"},
    "settling": {"renew"},
    "beat_settling": {"settle", "move", "dead_letter"},
    "name": {"release"},
    "pace": {"went_badly"},
}
"""What a worker does not call through that port, or only when it fails or has ended."""


def test_each_call_of_a_worker_is_a_crash_point_before_and_after_it() -> None:
    """What is added to a port has to be added to the matrix."""
    fields = {n: getattr(ports, t.__name__) for n, t in _protocols().items() if n in WATCHED}
    fields |= {"archive": ports.Archive, "pages": ports.Pages, "pace": ports.Pace}

    calls = {
        f"{edge}/{name}.{method}"
        for name, port in fields.items()
        for method, _ in inspect.getmembers(port, inspect.isfunction)
        if not method.startswith("_") and method not in NEVER_CALLED.get(name, ())
        for edge in ("before", "after")
    }

    assert set(fields) == {*WATCHED, *HANDLER}
    named = {point.name for step in STEPS.values() for point in step}
    assert calls == {name for name in named if not name.startswith("commit/")}


@pytest.fixture(scope="module")
def lanes(
    databases: Databases, valkey_server: EmbeddedValkey, tmp_path_factory: pytest.TempPathFactory
) -> Iterator["SimpleQueue[Lane]"]:
    """As many lanes as cases run at once, over one emulator and one nursery."""
    heal(valkey_server)
    flush(valkey_server.url)
    folder = tmp_path_factory.mktemp("matrix")
    plant, lock = Plant(folder, "", ""), Lock()

    def database() -> str:
        with lock:
            return databases.migrated()

    free: SimpleQueue[Lane] = SimpleQueue()
    with nursery() as born:
        try:
            plant.start_archive()
            plant.behave(latency_ms=ARCHIVE_LATENCY_MS)
            for number in range(1, LANES + 1):
                url = valkey_server.url.replace("db=0", f"db={number}")
                own = folder / str(number)
                own.mkdir()
                free.put(Lane(number, plant.archive, url, born, own, database))
            yield free
        finally:
            plant.stop()
            flush(valkey_server.url)


@pytest.mark.timeout(1800)
def test_no_crash_at_any_step_loses_or_doubles_anything(lanes: "SimpleQueue[Lane]") -> None:
    """Each ad of the archive's truth once, each row at its end, no message left."""
    cases = _cases()
    took, late = list[Took](), list[str]()

    def run(case: Case) -> str:
        case.lane = lanes.get()
        try:
            for _ in range(TRIES):
                with suppress(NotReached):
                    took.append(_played(case, late))
                    return ""
            return "the point was never reached"
        except Exception:  # noqa: BLE001 - all cases are reported together
            return traceback.format_exc(limit=-3)
        finally:
            lanes.put(case.lane)

    with ThreadPoolExecutor(LANES) as pool:
        ends = dict(zip((case.name for case in cases), pool.map(run, cases), strict=True))

    failed = {name: why for name, why in ends.items() if why}
    _keep(cases, failed, took, late)
    assert ends
    assert not failed, f"{len(failed)} of {len(ends)}:\n" + "\n".join(
        f"{name}\n{why}" for name, why in failed.items()
    )


def _cases() -> list[Case]:
    """Give the cases that were asked for; CRASH_CASE is a pattern of their names."""
    pairs = enumerate(product(points(short=SHORT), ACTIONS))
    cases = [
        Case(point, action, f"ads-{_size(number, point, action)}.example")
        for number, (point, action) in pairs
    ]
    pattern = os.environ.get("CRASH_CASE", "")
    return [case for case in cases if re.search(pattern, case.name)]


def _played(case: Case, late: list[str]) -> Took:
    """Play a case, once more when it was late: a busy machine lets it pass then, a fault not."""
    try:
        return case.run()
    except Late:
        late.append(case.name)
        return case.run()


def _keep(cases: list[Case], failed: dict[str, str], took: list[Took], late: list[str]) -> None:
    leases = sorted(one.leases for one in took) or [0.0]
    figures = {
        "points": len({case.point for case in cases}),
        "crashes": len(cases),
        "failed": len(failed),
        "failures": sorted(failed),
        "median_leases": round(leases[len(leases) // 2], 2),
        "slowest_leases": round(leases[-1], 2),
        "late": len(late),
        "most_repeats": max((one.repeats for one in took), default=0),
    }
    if file := os.environ.get("FIGURES"):
        Path(file).write_text(f"{json.dumps(figures, indent=2)}\n", encoding="utf-8")


def _protocols() -> dict[str, Any]:
    return {n: t for n, t in get_type_hints(WorkerPorts).items() if inspect.isclass(t)}


def _size(number: int, point: Point, action: str) -> int:
    """Give a domain of its own to each case, of five pages.

    Where a worker sleeps over a write there are so many that another is still busy when it wakes.
    One to split has fewer, so that its parts are not split again.
    """
    if point.setting == "split":
        return FIRST_TO_SPLIT + number % 99
    is_late_write = action == "stop" and point.name.endswith("pages.write_page")
    return (FIRST_LONG if is_late_write else FIRST_SIZE) + number % 99
