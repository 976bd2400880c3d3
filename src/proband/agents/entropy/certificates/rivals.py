"""How far any set may be above the best one found, without enumerating sets: the bound of certify(ε).

With Ŝ the estimated best set and w(a, b) the width of its pair with a set S that has a tests more and b tests fewer,

    f(S*) − f(Ŝ) ≤ max over S of  f̂(S) − f̂(Ŝ) + w(|S − Ŝ|, |Ŝ − S|).

Let w(a, b) ≤ h + u·a + v·b for all a and b: a plane that touches w somewhere and is lifted until it lies above w
(found by comparing all entries of the table, so w need not be concave). Then the bound is h plus the maximum of

    f̂(S) + u·|S − Ŝ| + v·|Ŝ − S| − f̂(Ŝ),

again a cost-sensitive entropy problem, in which a test outside Ŝ costs u less and one inside v more. Branch and bound
solves it (:func:`proband.planners.subset.solve_subset`). Prices may become negative; scaling row and column i of the
covariance by exp(s/λ) adds s to the reward of every set that has i, so no price is touched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from proband.agents.entropy.certificates.rules import LOG_TWO_PI_E
from proband.agents.entropy.certificates.widths import Event
from proband.agents.entropy.learning.scatter import Scatter
from proband.errors import DistributionError
from proband.planners.subset import improve, solve_subset
from proband.prices import Flags, Prices
from proband.vocabulary import FloatArray

PLANES = 4
"""How many planes are tried at most."""
NODES = 20_000
"""Nodes of a branch and bound, after which its bound is taken as it is."""


class Rivals:
    """The tests that may be in the best set (`possible`; those `inside` are, for sure), as a scatter shows them.

    The scatter is that of rounds that measured all of them, `scale` is λ.
    """

    def __init__(self, scatter: Scatter, costs: Prices, scale: float, inside: Flags, possible: Flags) -> None:
        part = scatter.restrict(np.flatnonzero(possible).tolist())
        varying = part.matrix.diagonal() > 0
        self.tests = part.sites[varying]
        self.covariance = part.matrix[np.ix_(varying, varying)] / max(part.degrees, 1)
        self.degrees = part.degrees
        self.costs, self.scale = costs, scale
        self.inside = inside[self.tests]

    def climb(self, start: Sequence[int] = (), *, max_size: int | None = None, unit: float | None = None) -> list[int]:
        """Return a good set, as tests, from a start that may hold tests that are no longer there."""
        begin = np.flatnonzero(np.isin(self.tests, list(start)))
        factor = 1.0 if unit is None else max(self.degrees, 1) / unit
        found = self._improve(self.covariance * factor, begin.tolist(), max_size)
        return [int(i) for i in self.tests[found]]

    def bound(self, best: Sequence[int], event: Event, hopeless: float) -> float:
        """Return by how much any set may be above `best` under an event; inf if that is above `hopeless` for sure."""
        own = np.isin(self.tests, list(best))
        a, b = np.arange((~own).sum() + 1.0), np.arange((own & ~self.inside).sum() + 1.0)
        table = self.scale / 2 * event.around(int(own.sum()), a[:, None] + b)
        if not np.isfinite(table).all() or self._least(own, table) > hopeless:
            return math.inf
        lowest, point = math.inf, (min(1, len(a) - 1), min(1, len(b) - 1))
        touched: set[tuple[int, int]] = set()
        while len(touched) < PLANES and point not in touched:
            touched.add(point)
            u, v = _slope(table[:, point[1]], point[0]), _slope(table[point[0]], point[1])
            height = float((table - u * a[:, None] - v * b).max())
            value, point = self._highest(own, u, v)
            lowest = min(lowest, height + value - self._reward(own))
        return max(lowest, 0.0)

    def _least(self, own: Flags, table: FloatArray) -> float:
        """Return what some set reaches for sure: no plane can give a smaller bound."""
        u, v = _slope(table[:, 0], 1), _slope(table[0], 1)
        found = np.zeros(len(own), dtype=np.bool_)
        found[self._improve(self._tilted(own, u, v), np.flatnonzero(own).tolist(), None)] = True
        return self._reward(found) - self._reward(own) + float(table[(found & ~own).sum(), (own & ~found).sum()])

    def _tilted(self, own: Flags, u: float, v: float) -> FloatArray:
        factor = np.exp(np.where(own, -v, u) / self.scale)
        return np.asarray(self.covariance * factor[:, None] * factor)

    def _highest(self, own: Flags, u: float, v: float) -> tuple[float, tuple[int, int]]:
        """Return an upper bound on f̂(S) + u·|S − Ŝ| + v·|Ŝ − S|, and where the best set found for it lies."""
        try:
            solution = solve_subset(
                self._tilted(own, u, v), self.costs.cost[self.tests], scale=self.scale,
                groups=self.costs.group[self.tests], group_costs=self.costs.group_cost[self.tests],
                forced_in=np.flatnonzero(self.inside).tolist(), node_limit=NODES,
            )  # fmt: skip
        except DistributionError:  # singular to working precision: nothing can be certified
            return math.inf, (0, 0)
        found = np.zeros(len(own), dtype=np.bool_)
        found[list(solution.chosen)] = True
        bound = solution.bound if solution.status == "optimal" else math.inf
        return bound + v * float(own.sum()), (int((found & ~own).sum()), int((own & ~found).sum()))

    def _improve(self, covariance: FloatArray, start: list[int], max_size: int | None) -> list[int]:
        if not len(self.tests):
            return []
        forced = np.flatnonzero(self.inside).tolist()
        return list(
            improve(
                covariance, self.costs.cost[self.tests], scale=self.scale, start=start, max_size=max_size,
                groups=self.costs.group[self.tests], group_costs=self.costs.group_cost[self.tests], forced_in=forced,
            )
        )  # fmt: skip

    def _reward(self, chosen: Flags) -> float:
        """Return the estimated reward of a set, given as flags over the tests that may be in it."""
        members = np.flatnonzero(chosen)
        sign, logdet = np.linalg.slogdet(self.covariance[np.ix_(members, members)])
        entropy = (len(members) * LOG_TWO_PI_E + logdet) / 2 if sign > 0 else -math.inf
        return float(self.scale * entropy - self.costs.of(self.tests[members].tolist()))


def _slope(values: FloatArray, at: int) -> float:
    """Return the slope of a row of the table near an entry."""
    before, after = max(at - 1, 0), min(at + 1, len(values) - 1)
    return float(values[after] - values[before]) / max(after - before, 1)
