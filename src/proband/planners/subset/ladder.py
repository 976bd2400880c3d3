"""Best sets of given sizes, by prices on the number of tests (Lagrangian search), then branch and bound for the rest.

Let z(s) = max of F over sets of size s. At a price λ on each test, sets of any size compete, and

    z(s) ≤ max_S (F(S) − λ·|S|) + λ·s    for every size s,

with equality where the best set has size s. So a search without a size, which is much easier than one with it, bounds
every size, and proves z(s) wherever z touches its concave envelope: at a price between the slopes left and right of s.
On the covariances of the literature that we tried all sizes are such. For another size the price is the slope of the
edge above it; the bound is then the envelope, and a branch and bound with the size, which uses this bound too, settles
the rest.

Prices come from the concave envelope of the best values known so far, at first by climbing: each search either proves
its sizes or finds a better set, which changes the envelope.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from proband.planners.subset.branch_and_bound import BranchAndBound, StopRule
from proband.planners.subset.improving import climbed
from proband.planners.subset.objective import IN, OUT, Candidates, hadamard, objective_of, with_price
from proband.prices import Flags


class Ladder:
    """The best sets known by size, with upper bounds; all values, and the gap of a proof, are those of F."""

    def __init__(self, candidates: Candidates, tolerance: float) -> None:
        self.candidates, self.tolerance = candidates, tolerance
        self.objective = objective_of(candidates)
        self.sets: dict[int, Flags] = {}
        self.values: dict[int, float] = {}
        self.bounds: dict[int, float] = {}
        self.prices: dict[int, float] = {}
        self.tried: set[float] = set()
        self.nodes, self.price = 0, 0.0
        for ends in (candidates.state == IN, candidates.state != OUT):
            self.add(ends)
            size = int(ends.sum())
            self.bounds[size], self.prices[size] = self.values[size], 0.0

    def seed(self, sizes: Iterable[int]) -> None:
        """Find good sets of these sizes and of their neighbours, climbing through them upwards and downwards."""
        wanted = {size for s in sizes for size in (s - 1, s, s + 1) if min(self.values) <= size <= max(self.values)}
        for size in wanted:
            self.bounds.setdefault(size, hadamard(self.candidates, self.objective._replace(size=size)))
        for start, path in (
            (self.candidates.state == IN, sorted(wanted)),
            (self.candidates.state != OUT, sorted(wanted)[::-1]),
        ):
            inside = start
            for size in path:
                inside = climbed(self.candidates, self.objective._replace(size=size), inside)
                self.add(inside)

    def add(self, inside: Flags) -> None:
        """Keep a set if it is the best of its size so far."""
        size = int(inside.sum())
        value = 2 / self.candidates.scale * self.candidates.reward_of(np.flatnonzero(inside))
        if value > self.values.get(size, -math.inf):
            self.values[size], self.sets[size] = value, inside.copy()

    def proved(self, size: int) -> bool:
        """Whether the best set of a size is proved to be that."""
        return self.bounds[size] - self.values[size] <= self.tolerance + 2 * self.objective.margin

    def lower(self, size: int, stop: StopRule) -> str:
        """Search at prices until the bound of a size cannot be lowered so; returns the status of the last search."""
        status = "optimal"
        while status == "optimal" and not self.proved(size):
            price, rivals = self._price(size)
            if price in self.tried:  # nothing new to learn at it: the rest is left to branch and bound
                break
            self.tried.add(price)
            self.price = price
            search = BranchAndBound(self.candidates, with_price(self.objective, price), self.tolerance)
            for rival in rivals:
                search.offer(self.sets[rival])
            status = search.run(stop)
            self._learn(search, price)
        return status

    def search(self, size: int, stop: StopRule) -> str:
        """Branch and bound over the sets of a size; returns its status."""
        self.price = 0.0
        price, envelope = self.prices.get(size, 0.0), self.bounds[size] if size in self.prices else math.inf
        search = BranchAndBound(
            self.candidates, self.objective._replace(size=size, price=price, envelope=envelope), self.tolerance
        )
        search.offer(self.sets[size])
        status = search.run(stop)
        self.nodes += search.nodes
        self.add(search.chosen)
        self.bounds[size] = min(self.bounds[size], search.bound)
        return status

    def _learn(self, search: BranchAndBound, price: float) -> None:
        self.nodes += search.nodes
        self.add(search.chosen)
        for size in self.bounds:
            bound = search.bound + price * size
            if bound < self.bounds[size]:
                self.bounds[size], self.prices[size] = bound, price

    def _price(self, size: int) -> tuple[float, list[int]]:
        """Return the price at which to search for a size, and the sizes on the envelope that compete for it."""
        corners = self._envelope()
        right = next(k for k, corner in enumerate(corners) if corner >= size)
        around = corners[right - 1 : right + 2] if corners[right] == size else corners[right - 1 : right + 1]
        slopes = [(self.values[after] - self.values[before]) / (after - before) for before, after in pairwise(around)]
        return float(np.mean(slopes)), around

    def _envelope(self) -> list[int]:
        """Sizes at the corners of the concave envelope of the values known."""
        corners: list[int] = []
        for size in sorted(self.values):
            while len(corners) > 1 and not self._bends(corners[-2], corners[-1], size):
                corners.pop()
            corners.append(size)
        return corners

    def _bends(self, left: int, middle: int, right: int) -> bool:
        rise, fall = self.values[middle] - self.values[left], self.values[right] - self.values[middle]
        return rise * (right - middle) > fall * (middle - left)
