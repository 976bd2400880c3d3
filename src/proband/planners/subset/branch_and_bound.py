"""The search as an object: open nodes by bound, the best first, each explored depth first for a while.

A burst takes the open node with the largest bound, searches below it depth first for some nodes, and puts what is left
of the stack back. So the memory stays small, the largest bound of an open node bounds every set, and it falls as time
passes. Between bursts Python handles signals, reports progress, applies the limits, and climbs from the relaxation's
point.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proband.planners.subset.bound_kernel import new_scratch
from proband.planners.subset.improving import climbed
from proband.planners.subset.node_kernel import BOUND, new_levels
from proband.planners.subset.objective import IN, OUT, Candidates, Objective, States, hadamard
from proband.planners.subset.relaxation_kernel import new_relaxation
from proband.planners.subset.search_kernel import CEILING, NODES, TOLERANCE, VALUE, new_best, search
from proband.prices import Flags
from proband.vocabulary import FloatArray

SLICE = 0.02
"""Seconds between two returns to Python, for up to 100 tests; beyond, the first node of a burst alone takes longer."""
MOST_NODES = 1 << 40


@dataclass(frozen=True)
class StopRule:
    """When to stop short of a proof: a moment of time.perf_counter(), a number of nodes, and a caller's word."""

    deadline: float = math.inf
    nodes: float = math.inf
    going: Callable[[BranchAndBound], bool | None] | None = None


class BranchAndBound:
    """Branch and bound over the sets that agree with what is forced.

    The objective is the candidates' F, perhaps with a price on each test, for sets of a size or of any. The best set
    counts as proved where it stays below a bound by the tolerance at most, in units of F.
    """

    def __init__(self, candidates: Candidates, objective: Objective, tolerance: float) -> None:
        self.candidates, self.objective = candidates, objective
        d = candidates.d
        self.levels, self.scratch, self.relaxation = new_levels(d), new_scratch(d, objective.groups), new_relaxation(d)
        self.best = new_best(d, tolerance)
        self.current = -math.inf
        first = min(objective.envelope, hadamard(candidates, objective))
        self.open: list[tuple[float, int, States]] = [(-first, 0, candidates.state.copy())]
        self.stored, self.burst = 0, 64
        self.slice = SLICE * max(1.0, (d / 100) ** 3)

    @property
    def nodes(self) -> int:
        """Nodes worked on."""
        return int(self.best.counts[NODES])

    @property
    def value(self) -> float:
        """F of the best set known."""
        return float(self.best.figures[VALUE])

    @property
    def bound(self) -> float:
        """Upper bound on F of every set."""
        waiting = -self.open[0][0] if self.open else -math.inf
        return max(self.value, float(self.best.figures[CEILING]), waiting, self.current) + self.objective.margin

    @property
    def chosen(self) -> Flags:
        """The best set known, as flags."""
        return np.asarray(self.best.state == IN)

    def offer(self, inside: Flags) -> None:
        """Give the search a set to beat; ignored if it is not allowed."""
        if self.candidates.allow(inside) and self.objective.size in (-1, int(inside.sum())):
            priced = float((self.objective.offset - self.candidates.offset)[inside].sum())
            value = 2 / self.candidates.scale * self.candidates.reward_of(np.flatnonzero(inside)) + priced
            if value > self.value:
                self.best.figures[VALUE] = value
                self.best.state[:] = np.where(inside, IN, OUT)

    def climb(self) -> None:
        """Offer what climbing finds from the smallest and from the largest set allowed."""
        for start in (self.candidates.state == IN, self.candidates.state != OUT):
            self.offer(climbed(self.candidates, self.objective, start))

    def run(self, stop: StopRule) -> str:
        """Search until solved or stopped; returns "optimal", "time", "nodes" or "interrupted"."""
        try:
            while self._advance(stop.nodes - self.nodes):
                if stop.going is not None and stop.going(self) is False:
                    return "interrupted"
                if time.perf_counter() > stop.deadline:
                    return "time"
                if self.nodes >= stop.nodes:
                    return "nodes"
        except KeyboardInterrupt:
            return "interrupted"
        return "optimal"

    def _advance(self, nodes: float) -> bool:
        """Explore below the open node with the largest bound; False when no node is open."""
        if self.open and -self.open[0][0] <= self.value + float(self.best.figures[TOLERANCE]):
            self.best.figures[CEILING] = max(self.best.figures[CEILING], -self.open[0][0])
            self.open.clear()
        if not self.open:
            return False
        self.current = -self.open[0][0]  # covers the node, and all below it, while they are in no list
        _, _, state = heapq.heappop(self.open)
        began = time.perf_counter()
        height = search(
            self.objective, self.levels, self.scratch, self.relaxation, self.best,
            state, self.current, int(min(self.burst, nodes)),
        )  # fmt: skip
        for level in range(height):
            self.stored += 1
            bound = float(self.levels.figures[level, BOUND])
            heapq.heappush(self.open, (-bound, self.stored, self.levels.state[level].copy()))
        self.current = -math.inf
        if height:
            factor = self.slice / max(time.perf_counter() - began, 1e-6)
            self.burst = max(16, int(min(self.burst, MOST_NODES) * min(2.0, max(0.5, factor))))
            self.offer(climbed(self.candidates, self.objective, self._rounded(self.levels.point[0])))
        return True

    def _rounded(self, point: FloatArray) -> Flags:
        """Return a set near a point of the relaxation, and the states of the node on the lowest level."""
        state = self.levels.state[0]
        score = np.where(state == IN, 2.0, np.where(state == OUT, -1.0, point))
        if self.objective.size < 0:
            return np.asarray(score > 0.5)
        inside = np.zeros(len(score), dtype=np.bool_)
        inside[np.argsort(-score, kind="stable")[: self.objective.size]] = True
        return inside
