"""How often somebody may try: so many times a minute, counted by address, and forgotten after it."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

MINUTE = 60.0

MOST_ADDRESSES = 10_000
"""Addresses that are remembered: those that came last."""


class Rate:
    """At most `most` tries a minute from each address.

    Examples
    --------
    >>> rate = Rate(2, clock=lambda: 0.0)
    >>> [rate.wait("1.2.3.4") for _ in range(3)], rate.wait("5.6.7.8")
    ([0.0, 0.0, 60.0], 0.0)
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._tries: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Count a try; return 0, or for how many seconds there may be no other one."""
        now = self._clock()
        tries = self._tries.setdefault(address, deque())
        self._tries.move_to_end(address)
        if len(self._tries) > MOST_ADDRESSES:
            self._tries.popitem(last=False)
        while tries and tries[0] <= now - MINUTE:
            tries.popleft()
        if len(tries) >= self._most:
            return tries[0] + MINUTE - now
        tries.append(now)
        return 0.0
