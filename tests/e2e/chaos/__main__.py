"""`python -m tests.e2e.chaos --schedules 100 --json FILE`: play many schedules, keep the figures.

A schedule that fails leaves its folder with all logs, and its seed is printed.
"""

import argparse
import json
import logging
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp

import structlog

from ppcfetch.adapters.embedded.postgres import EmbeddedPostgres
from tests.e2e.chaos.books import Figures
from tests.e2e.chaos.run import ARCHIVE_LATENCY_MS, Failed, play
from tests.e2e.nursery import nursery
from tests.e2e.plant import Plant
from tests.servers import Databases, short_folder

FEWEST_REFUSED = 5


def main() -> int:
    """Play the schedules that were asked for; gives 1 when one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.chaos", description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--schedules", type=int, default=100)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    level = structlog.make_filtering_bound_logger(logging.WARNING)
    structlog.configure(wrapper_class=level)
    together, failed = Figures(), []
    with (
        short_folder() as folder,
        EmbeddedPostgres(folder / "postgres", durable=False) as server,
        nursery() as born,
    ):
        plant, databases = Plant(folder, "", ""), Databases(server)
        try:
            plant.start_archive()
            plant.behave(latency_ms=ARCHIVE_LATENCY_MS)
            for seed in range(asked.first, asked.first + asked.schedules):
                own = Path(mkdtemp(prefix=f"chaos-{seed}-"))
                try:
                    figures = play(
                        seed, folder=own, databases=databases, nursery=born, archive=plant.archive
                    )
                except Failed as wrong:
                    failed.append(seed)
                    tell(f"{wrong}\n  its logs: {own}")
                else:
                    together.add(figures)
                    shutil.rmtree(own, ignore_errors=True)
                    tell(f"schedule {seed}: {json.dumps(asdict(figures))}")
                _keep(together, failed, asked.json)
        finally:
            plant.stop()
    if not failed and together.stale_writes_refused < FEWEST_REFUSED:
        tell(f"only {together.stale_writes_refused} stale writes came up: this proved nothing")
        return 1
    return int(bool(failed))


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _keep(figures: Figures, failed: list[int], file: Path | None) -> None:
    text = json.dumps({**asdict(figures), "failed_seeds": failed}, indent=2, sort_keys=True)
    if file is not None:
        file.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
