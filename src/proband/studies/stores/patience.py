"""Trying again for a while: pauses that are short, random and slowly growing, until a deadline."""

from __future__ import annotations

import random
import time

SHORTEST, LONGEST = 0.0002, 0.05
"""Of the pauses, in seconds."""

_chance = random.SystemRandom()  # has no state that processes could inherit and then all pause alike


class Patience:
    """How long to go on.

    Parameters
    ----------
    seconds : float
        From now on.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._pause = SHORTEST

    @property
    def left(self) -> float:
        """Seconds until the deadline, never below 0."""
        return max(0.0, self._end - time.monotonic())

    def wait(self) -> bool:
        """Pause; return False, without a pause, if the deadline is over."""
        left = self.left
        if not left:
            return False
        time.sleep(min(left, _chance.uniform(0.5, 1.5) * self._pause))
        self._pause = min(LONGEST, 1.3 * self._pause)
        return True
