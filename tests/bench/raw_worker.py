"""The floor: XREADGROUP COUNT 1 and XACK in a loop, as bare as redis-py allows."""

import sys
import time

from redis import Redis

STREAM, GROUP = "raw", "raw"


def main() -> None:
    """For each number on standard input do so many jobs, then print when each began."""
    url, consumer, told = sys.argv[1:4]
    with Redis.from_url(url, protocol=2) as client:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for line in sys.stdin:
            started, starts = time.monotonic_ns(), []
            for _ in range(int(line)):
                reply = client.xreadgroup(GROUP, consumer, {STREAM: ">"}, count=1, block=10_000)
                starts.append(time.monotonic_ns())
                client.xack(STREAM, GROUP, reply[0][1][0][0])
            ended = time.monotonic_ns()
            shown = starts if told == "tell" else [started, ended]
            sys.stdout.write(" ".join(map(str, shown)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
