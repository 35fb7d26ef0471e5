"""Replay one seed with its story, or run many and write down the figures."""

import argparse
import json
import sys
import time
from pathlib import Path

from tests.simulation.run import explain, quiet_logs, run_seeds
from tests.simulation.world import World


def main() -> int:
    """Give 1 when a promise was broken."""
    arguments = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    arguments.add_argument("--seed", type=int, help="replay this one and tell its story")
    arguments.add_argument("--first", type=int, default=0)
    arguments.add_argument("--seeds", type=int, default=2000)
    arguments.add_argument("--most-broken", type=int, default=3)
    arguments.add_argument("--json", type=Path, help="write the figures to this file")
    asked = arguments.parse_args()
    if asked.seed is not None:
        return _replay(asked.seed)
    began = time.monotonic()
    seeds = range(asked.first, asked.first + asked.seeds)
    summary = run_seeds(seeds, most_broken=asked.most_broken)
    figures = {**summary.figures(), "seconds": round(time.monotonic() - began, 1)}
    text = json.dumps(figures, indent=2)
    if asked.json:
        asked.json.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n" + explain(summary) + "\n")
    return int(bool(summary.broken))


def _replay(seed: int) -> int:
    with quiet_logs():
        world = World(seed)
        ledger = world.run()
    lines = [*world.story, "", *(ledger.violations or ["no promise was broken"])]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(bool(ledger.violations))


if __name__ == "__main__":
    sys.exit(main())
