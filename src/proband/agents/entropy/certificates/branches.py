"""Rounds that measured less than everything possible, and comparisons of sets that were never measured together.

The *trunk* is the scatter of all rounds that measured every test that may still be in the best set. When a smaller set
V is measured instead, its rounds form a *branch*. What was measured in some rounds serves all sets inside: a set S is
judged by the trunk and every branch that holds it.

Two sets S = I ∪ A and S' = I ∪ B are compared on the rounds that hold both, or along the *chain* S, I, S': the
log-determinant of A given I from the rounds that hold S, that of B given I from the rounds that hold S'. The widths of
the two links add up. Either comparison may be taken, whichever is narrower: the union covers both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from proband.agents.entropy.certificates.lattice import Lattice
from proband.agents.entropy.certificates.rules import LOG_TWO_PI_E
from proband.agents.entropy.certificates.widths import Looks, log_rivals, pair_widths
from proband.agents.entropy.learning.scatter import Scatter
from proband.prices import Flags, Prices
from proband.vocabulary import FloatArray, IntArray

Key = tuple[int, ...]


class Branches:
    """The trunk and the branches; the mean of the d tests is given where it is known."""

    def __init__(self, d: int, mean: ArrayLike | None = None) -> None:
        self.mean = mean
        self.trunk = Scatter(range(d), mean)
        self.others: dict[Key, Scatter] = {}

    def add(self, tested: Key, rows: FloatArray, counts: IntArray) -> None:
        """Add rounds in which `tested` was to be measured; rows without it are left out, and so is what else they show.

        Who measures more in some rounds, because of what they show, must not choose which rounds count for more.
        """
        if set(self.trunk.sites.tolist()) <= set(tested):
            self.trunk.add(rows, counts)
        elif tested:
            self.others.setdefault(tested, Scatter(tested, self.mean)).add(rows, counts)

    def shrink(self, possible: Flags) -> None:
        """Forget the tests that are out: what measured all others becomes part of the trunk."""
        self.trunk = self.trunk.restrict(np.flatnonzero(possible).tolist())
        branches, self.others = self.others, {}
        for tested, scatter in branches.items():
            key = tuple(i for i in tested if possible[i])
            part = scatter.restrict(key)
            if key == tuple(self.trunk.sites.tolist()):
                self.trunk.merge(part)
            elif key in self.others:
                self.others[key].merge(part)
            elif key and part.n:
                self.others[key] = part

    def covering(self, tests: Key) -> tuple[Key, ...]:
        """Return the branches that hold all of the tests."""
        return tuple(key for key in self.others if set(tests) <= set(key))

    def scatter(self, keys: tuple[Key, ...]) -> Scatter:
        """Return the scatter of the trunk and some branches, of the tests that all of them hold."""
        common = [i for i in self.trunk.sites.tolist() if all(i in key for key in keys)]
        total = self.trunk.restrict(common)
        for key in keys:
            total.merge(self.others[key])
        return total

    def rounds(self, tests: Key) -> int:
        """Return in how many rounds all of the tests were measured."""
        return self.trunk.n + sum(self.others[key].n for key in self.covering(tests))


@dataclass
class Chains:
    """Differences of estimated rewards, on whatever rounds there are.

    The looks are fine ones: numbers of rounds come as they come. Each of the two kinds of comparison may fail with
    probability exp(`log_delta`); `scale` is λ.
    """

    lattice: Lattice
    branches: Branches
    costs: Prices
    scale: float
    looks: Looks
    log_delta: float
    _logs: dict[tuple[Key, ...], tuple[Scatter, FloatArray]] = field(default_factory=dict)
    _links: dict[tuple[int, int, tuple[int, int], float, int], float] = field(default_factory=dict)

    def against(self, rival: int) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the sets alive, by how much each seems to be above the rival, and by how much that may be off."""
        sets = np.flatnonzero(self.lattice.alive)
        paid = self.costs.of_all(self.lattice.base, self.lattice.free)
        figures = [min(self._joint(S, rival), self._chain(S, rival), key=lambda found: found[1]) for S in sets.tolist()]
        entropies, widths = np.array(figures).T
        return sets, self.scale / 2 * entropies - paid[sets] + paid[rival], self.scale / 2 * widths

    def _joint(self, S: int, rival: int) -> tuple[float, float]:
        """Compare on the rounds that hold both sets."""
        scatter, logs = self._of(S | rival)
        common, a, b = (S & rival).bit_count(), (S & ~rival).bit_count(), (rival & ~S).bit_count()
        unit = LOG_TWO_PI_E - math.log(max(scatter.degrees, 1))
        width = self._width(scatter, common, (a, b), log_share=0.0, apart=a + b)
        return float(logs[S] - logs[rival]) + (a - b) * unit, width

    def _chain(self, S: int, rival: int) -> tuple[float, float]:
        """Compare through what both sets have in common; each link may fail with half of the probability."""
        difference, width, common, apart = 0.0, 0.0, S & rival, (S ^ rival).bit_count()
        for end, sign in ((S, 1), (rival, -1)):
            scatter, logs = self._of(end)
            more = (end & ~common).bit_count()
            unit = LOG_TWO_PI_E - math.log(max(scatter.degrees, 1))
            difference += sign * (float(logs[end] - logs[common]) + more * unit)
            sizes = (more, 0) if sign > 0 else (0, more)
            width += self._width(scatter, common.bit_count(), sizes, log_share=-math.log(2), apart=apart)
        return difference, width

    def _width(self, scatter: Scatter, common: int, sizes: tuple[int, int], *, log_share: float, apart: int) -> float:
        look = self.looks.floor(scatter.n)
        if sizes == (0, 0) or look < 0:
            return math.inf if look < 0 else 0.0
        key = (scatter.n, common, sizes, log_share, apart)
        if key not in self._links:
            lost = scatter.n - scatter.degrees
            log_alpha = self.log_delta + self.looks.log_share(look) + log_share
            shares = np.full((sizes[0] + 1, 1), log_rivals(len(self.costs.cost), np.array(float(apart))) - log_alpha)
            low, high = self.looks.count(look) - lost, self.looks.count(look + 1) - lost
            given = len(self.lattice.base) + common
            self._links[key] = float(
                pair_widths(low, high, given, shares, unit=scatter.degrees, start=sizes[1])[sizes[0], 0]
            )
        return self._links[key]

    def _of(self, number: int) -> tuple[Scatter, FloatArray]:
        """Return the scatter of the rounds that hold a set, and the log-determinants of all sets that they hold."""
        from proband.agents.entropy.certificates.lattice_kernel import log_determinants

        keys = self.branches.covering(self.lattice.members(number))
        if keys not in self._logs:
            scatter = self.branches.scatter(keys)
            held = np.flatnonzero(np.isin(self.lattice.free, scatter.sites))
            numbers = np.array([0])
            for n in held.tolist():
                numbers = np.concatenate([numbers, numbers | 1 << n])
            logs = np.full(1 << self.lattice.k, np.nan)
            logs[numbers] = log_determinants(self.lattice.schur(scatter))
            self._logs[keys] = scatter, logs
        return self._logs[keys]
