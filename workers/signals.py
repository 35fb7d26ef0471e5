"""Signals that ask a process to stop.

A handler interrupts the main thread wherever it is, also while it holds the very lock that an
event needs to be set: the process would then wait for itself, for ever. A handler therefore only
puts into a queue made for that, and a thread does the rest.
"""

import signal
import threading
from collections.abc import Callable, Collection
from queue import SimpleQueue


def on_signals(numbers: Collection[signal.Signals], do: Callable[[], object]) -> None:
    """Have a thread of its own call `do` for each of these signals; call it in the main thread."""
    came: SimpleQueue[int] = SimpleQueue()

    def wait_for_them() -> None:
        while True:
            came.get()
            do()

    threading.Thread(target=wait_for_them, name="signals", daemon=True).start()
    for number in numbers:
        signal.signal(number, lambda number, _frame: came.put(number))
