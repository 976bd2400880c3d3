"""Waiting for others: in pauses that are short and random, until a deadline.

Deadlines nest: whatever waits inside :func:`within` gives up when the block's time is over, however patient it is by
itself. So a turn at the log has one deadline, and not one for each of its steps.
"""

from __future__ import annotations

import math
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PAUSES = (0.002, 0.01)
"""Seconds of the first pause and of every other one, about: most who wait, wait for one turn, and trying costs time."""

_chance = random.Random()
os.register_at_fork(after_in_child=_chance.seed)  # or children would all pause alike
_mine = threading.local()


class Patience:
    """How long to go on: some seconds from now, and no longer than the blocks of :func:`within` around it."""

    def __init__(self, seconds: float) -> None:
        self._began, self._pauses = time.monotonic(), 0
        self.seconds = min(seconds, _end() - self._began)

    @property
    def left(self) -> float:
        """Seconds until the deadline, never below 0."""
        return max(0.0, self._began + self.seconds - time.monotonic())

    def wait(self) -> bool:
        """Pause; return False, without a pause, if the deadline is over."""
        left = self.left
        if not left:
            return False
        time.sleep(min(left, _chance.uniform(0.5, 1.5) * PAUSES[self._pauses > 0]))
        self._pauses += 1
        return True


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let all waiting of this thread in the block end after some seconds.

    Examples
    --------
    >>> with within(0.0):
    ...     Patience(60.0).wait()
    False
    """
    outer = _end()
    _mine.end = min(outer, time.monotonic() + seconds)
    try:
        yield
    finally:
        _mine.end = outer


def _end() -> float:
    return float(getattr(_mine, "end", math.inf))
