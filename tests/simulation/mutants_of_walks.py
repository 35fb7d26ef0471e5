"""Sabotages of where walks end, what is read behind them, and their parts; see `mutants.py`."""

from tests.simulation.mutants_of_servers import ROWS_FOLDER

SIMULATION = "simulation"
WALK = "tests/unit/test_walk.py"
DOUBT = "tests/unit/test_run_job.py"
PARTS = "tests/unit/test_parts.py"
SPLIT = "tests/unit/test_split.py"
WALKS = "tests/contract/test_walks.py"
ADMISSION = "tests/contract/test_admission.py"

ROWS = (
    # ---- where a walk ends
    (
        "a walk goes on while its ads are newer than its mark",
        "ppcfetch/model/walk.py",
        "arrived = until is not None and any(moment < until for moment in shown)",
        "arrived = until is not None",
        SIMULATION,
    ),
    (
        "a refresh ends at the first ad behind its mark",
        "ppcfetch/model/walk.py",
        "        ended=at_end or arrived,\n",
        "        ended=at_end,\n",
        WALK,
    ),
    (
        "a page out of order takes the mark away",
        "ppcfetch/model/walk.py",
        "until = before.until if in_order else None",
        "until = before.until",
        WALK,
    ),
    (
        "order is looked at across pages",
        "ppcfetch/model/walk.py",
        "times = shown if before is None else [before, *shown]",
        "times = shown",
        WALK,
    ),
    (
        "an end before the mark makes the walk a full one",
        "ppcfetch/model/walk.py",
        "if at_end and not arrived and job.kind is JobKind.WALK:",
        "if False:",
        WALK,
    ),
    (
        "a walk begins where its first page did, not its last",
        "ppcfetch/model/walk.py",
        "newest=max(shown) if shown and not job.pages else None,",
        "newest=min(shown) if shown and not job.pages else None,",
        WALK,
    ),
    (
        "a top up out of order makes its fetch a full walk",
        "ppcfetch/model/walk.py",
        "return not behind_page.in_order or (",
        "return (",
        WALK,
    ),
    (
        "a top up that meets the end keeps its mark",
        "ppcfetch/model/walk.py",
        "if at_end and not arrived and job.kind is JobKind.WALK:",
        "if at_end and not arrived:",
        WALK,
    ),
    (
        "nothing behind a cursor is doubted",
        "ppcfetch/model/walk.py",
        "return job.attempts + 1 < LOOKS_AT_NOTHING or job.error != NOTHING_LEFT",
        "return False",
        DOUBT,
    ),
    (
        "nothing behind a cursor is believed when it is said again and again",
        "ppcfetch/model/walk.py",
        "return job.attempts + 1 < LOOKS_AT_NOTHING or job.error != NOTHING_LEFT",
        "return True",
        DOUBT,
    ),
    # ---- what moved behind it
    (
        "what moved behind a walk is read by one more",
        f"{ROWS_FOLDER}/closing.py",
        "going_on = _top_up(raw, whole) if whole else frozenset()",
        "going_on = frozenset[int]()",
        WALKS,
    ),
    (
        "a top up keeps the place in line of its walk",
        f"{ROWS_FOLDER}/closing.py",
        "latest.asker, false, clock_timestamp(), latest.due_at",
        "latest.asker, false, clock_timestamp(), clock_timestamp()",
        ADMISSION,
    ),
    # ---- parts
    (
        "parts are made in the transaction of the page that is split",
        f"{ROWS_FOLDER}/pages.py",
        "                if write.parts:\n",
        "                if False:\n",
        WALKS,
    ),
    (
        "a walk that was split ends",
        f"{ROWS_FOLDER}/pages.py",
        "return self.page.next_cursor is None or self.checkpoint.ended or bool(self.parts)",
        "return self.page.next_cursor is None or self.checkpoint.ended",
        WALKS,
    ),
    (
        "a fetch ends with the last of its jobs, not with the first",
        f"{ROWS_FOLDER}/closing.py",
        "if row.id in active and not row.active]",
        "if row.id in active]",
        WALKS,
    ),
    (
        "a fetch that has ended does not end again",
        f"{ROWS_FOLDER}/closing.py",
        "if row.id in active and not row.active]",
        "if not row.active]",
        "tests/contract/test_fetches_end.py",
    ),
    (
        "a part that died makes the fetch partial",
        "ppcfetch/model/fetch.py",
        "return FetchState.PARTIAL if done else FetchState.FAILED",
        "return FetchState.DONE if done else FetchState.FAILED",
        SIMULATION,
    ),
    (
        "only the first page of a walk is split",
        "ppcfetch/model/parts.py",
        "is_whole = job.kind is JobKind.WALK and not job.pages and job.checkpoint.until is None",
        "is_whole = job.kind is JobKind.WALK and job.checkpoint.until is None",
        SIMULATION,
    ),
    (
        "halves of a window leave out no day",
        "ppcfetch/model/parts.py",
        "replace(window, first_day=day + timedelta(days=1))",
        "replace(window, first_day=day + timedelta(days=60))",
        SIMULATION,
    ),
    (
        "totals have to agree",
        "ppcfetch/usecases/split.py",
        "if formats and (yield from _agree(page, formats, probe)):",
        "if formats:",
        SPLIT,
    ),
    (
        "windows that overlap part nothing",
        "ppcfetch/model/parts.py",
        "return all(first <= day <= last for day in shown)",
        "return True",
        PARTS,
    ),
    (
        "the newer window has every ad of the top",
        "ppcfetch/model/parts.py",
        "        if any(one.creative_id not in held for one in missing):\n",
        "        if False:\n",
        PARTS,
    ),
    (
        "windows have to reach back to the oldest ads",
        "ppcfetch/usecases/split.py",
        "    if query.first_day is None:\n",
        "    if False:\n",
        SPLIT,
    ),
    (
        "the archive is asked what its filters mean for so long at most",
        "ppcfetch/usecases/probe.py",
        "if self._asking.clock.monotonic() > self._by:",
        "if False:",
        SPLIT,
    ),
    # ---- several ways out
    (
        "where one way out fails another is tried at once",
        "ppcfetch/usecases/ask_archive.py",
        "if rest or _waited(began, asking) > asking.patience:",
        "if True:",
        "tests/unit/test_ask_archive.py",
    ),
)
