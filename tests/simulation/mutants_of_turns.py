"""Sabotages of whose turn it is; see `mutants.py`."""

from tests.simulation.mutants_of_servers import ROWS_FOLDER

ADMISSION = "tests/contract/test_admission.py"
TURNS = "tests/unit/test_turns.py"

ROWS = (
    (
        "a job that waits for its turn is not rung for",
        f"{ROWS_FOLDER}/due.py",
        "WHERE pool = 'bulk' AND state IN ('queued', 'running') AND admitted",
        "WHERE pool = 'bulk' AND state IN ('queued', 'running')",
        ADMISSION,
    ),
    (
        "no more are let in than the window holds",
        f"{ROWS_FOLDER}/admission.py",
        "    WHERE place <= free",
        "    WHERE place <= 100",
        ADMISSION,
    ),
    (
        "those who asked take turns",
        f"{ROWS_FOLDER}/admission.py",
        "ORDER BY turn, due_at, id) AS place",
        "ORDER BY due_at, id) AS place",
        ADMISSION,
    ),
    (
        "so many parts of a fetch at once",
        f"{ROWS_FOLDER}/admission.py",
        "LIMIT greatest(:parts - present.number, 0)",
        "LIMIT :parts",
        ADMISSION,
    ),
    (
        "who gives way waits for his turn",
        f"{ROWS_FOLDER}/settle.py",
        "admitted = jobs.admitted AND NOT found.waits,",
        "admitted = jobs.admitted,",
        ADMISSION,
    ),
    (
        "a message for a job that waits is refused",
        f"{ROWS_FOLDER}/take.py",
        "            WHEN jobs.state = 'queued' AND NOT jobs.admitted THEN 'not due'\n",
        "",
        ADMISSION,
    ),
    (
        "only one lets in at a time",
        f"{ROWS_FOLDER}/admission.py",
        "            connection.execute(_ONE_BY_ONE)\n",
        "",
        "tests/contract/test_admission_cost.py",
    ),
    (
        "a bulk job gives way, too",
        "workers/consumer.py",
        "        if self.budget is None:",
        "        if True:",
        TURNS,
    ),
    (
        "an end lets the next one in",
        "workers/admitter.py",
        "            return admit(due=self._due, doorbell=self._doorbell, again=again)",
        "            return len(again)",
        TURNS,
    ),
    (
        "who was let in before the old message was settled rings again",
        "workers/admitter.py",
        "doorbell=self._doorbell, again=again)",
        "doorbell=self._doorbell)",
        TURNS,
    ),
    (
        "a lease lets the next one in",
        "workers/leasing.py",
        "            self._admitter.wake(())",
        "            pass",
        TURNS,
    ),
)
