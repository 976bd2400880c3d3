"""Two searches over the same rows on two cores: one that proves, one that looks for better trees.

Each has a memo of its own and shares nothing while it works. They meet when both have done a given amount of work, hand
each other the better tree and the tighter bound of every start, and go on. Where they meet depends on the work alone,
so with a limit on work the pair does the same on any machine, as one search does.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from proband.planners.sparse.arrays import Arrays
from proband.planners.sparse.driver import Search
from proband.planners.sparse.limits import Limits
from proband.planners.sparse.trees import new_seeds

FIRST_MEETING = 5e7
"""Units of work before the searches meet for the first time; after twice as many for the second time, and so on."""

PROVING, SEEKING = 0.02, 0.95
"""Shares of their work that the two give to better incumbents."""


MEETING_SECONDS = 1e-4
"""Time that a node of the incumbent costs when the two meet for the last time."""


def new_pair(arrays: Arrays, limits: Limits) -> list[Search]:
    """Make two searches, each within the limits, but for the memory, of which each has half."""
    share = replace(limits, memory=limits.memory / 2, node_seconds=limits.node_seconds + MEETING_SECONDS)
    lead = Search(arrays, replace(share, improving=PROVING))
    aide = Search(arrays, replace(share, improving=SEEKING), lead.compiled)
    aide.began = lead.began
    return [lead, aide]


def run_pair(lead: Search, aide: Search, goes_on: Callable[[], bool]) -> str:
    """Search until solved, stopped by a limit or by `goes_on`; all is then known to the lead. Returns the status."""
    meeting, status, solved = FIRST_MEETING, "optimal", False
    with ThreadPoolExecutor(1) as thread:
        try:
            while status == "optimal" and not solved:
                other = thread.submit(_search_until, aide, meeting)
                solved = _search_until(lead, meeting)
                aide.cancelled = solved  # nothing that it may find matters any more
                other.result()
                _meet(lead, aide)
                if not solved:
                    status = lead.stopped_by() or aide.stopped_by() or ("optimal" if goes_on() else "interrupted")
                meeting *= 2
        except KeyboardInterrupt:
            status = "interrupted"
        finally:
            aide.cancelled = True
    _meet(lead, aide)
    return status


def _meet(lead: Search, aide: Search) -> None:
    """Give both searches the better tree and the tighter bound of every start."""
    for search in (lead, aide):
        search.settle()
        search.settle_incumbents()
    for start, root in enumerate(lead.roots):
        apart = float(lead.memo.upper[root] - aide.memo.upper[root])
        if abs(apart) > lead.instance.tolerance:
            _hand_on(start, *((aide, lead) if apart > 0 else (lead, aide)))
        lower = max(float(lead.memo.lower[root]), float(aide.memo.lower[root]))
        for search in (lead, aide):
            search.memo.lower[root] = min(lower, float(search.memo.upper[root]))


def _search_until(search: Search, meeting: float) -> bool:
    """Search until so much work is done; whether all is solved."""
    if search.nodes is None and not search.midway:
        search.improve(meeting)
    while search.work < meeting and search.stopped_by() is None:
        if not search.advance(meeting):
            return True
    return False


def _hand_on(start: int, giver: Search, taker: Search) -> None:
    """Plant the tree of one search in the memo of the other."""
    walk, count = giver.read(start)
    seeds = new_seeds(np.array(walk.test[:count]), np.array(walk.children[:count]), taker.instance)
    taker.plant_seeds(seeds, int(taker.roots[start]), 0)
