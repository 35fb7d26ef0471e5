"""The process's own clock and dice."""

import random
import time


class SystemClock:
    """Real time (port `Clock`)."""

    def __init__(self) -> None:
        """Seed the dice from the operating system."""
        self._dice = random.SystemRandom()

    def monotonic(self) -> float:
        """Give seconds that only grow."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def random(self) -> float:
        """Give a number from 0 to 1."""
        return self._dice.random()
