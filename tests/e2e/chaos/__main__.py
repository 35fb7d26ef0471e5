"""`python -m tests.e2e.chaos --schedules 100 --json FILE`: play many schedules, keep the figures.

A schedule that fails leaves its folder with all logs, and its seed is printed.
"""

import argparse
import json
import logging
import sys
from pathlib import Path

import structlog

from tests.e2e.chaos.lanes import AT_ONCE
from tests.e2e.chaos.many import Outcome, play_many


def main() -> int:
    """Play the schedules that were asked for; gives 1 when one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.chaos", description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--schedules", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    level = structlog.make_filtering_bound_logger(logging.ERROR)
    structlog.configure(wrapper_class=level)

    def keep(outcome: Outcome) -> None:
        if asked.json is not None:
            text = json.dumps(outcome.shown(), indent=2, sort_keys=True)
            asked.json.write_text(f"{text}\n", encoding="utf-8")

    seeds = range(asked.first, asked.first + asked.schedules)
    faults = play_many(seeds, at_once=asked.at_once, tell=_say, keep=keep).faults()
    for fault in faults:
        _say(fault)
    return int(bool(faults))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
