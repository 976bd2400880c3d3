"""The sets that are left when few tests are undecided, compared pair by pair.

`base` is in the best set for sure, and of the 2^k ways to add some of the k tests `free` those that are `alive` may be
it. Given the base, log-determinants of scatters are those of the k × k Schur complement. The best set S* survives a
comparison with any rival S' unless the difference of their log-determinants is off by more than the width of the pair
(:mod:`~proband.agents.entropy.certificates.widths`); only the pairs (S*, S') count: the union is over the rivals of one
set.
"""

from __future__ import annotations

import numpy as np

from proband.agents.entropy.certificates.rules import LOG_TWO_PI_E, solve
from proband.agents.entropy.certificates.widths import Event
from proband.agents.entropy.learning.scatter import Scatter
from proband.prices import Prices
from proband.vocabulary import FloatArray, IntArray

RIVALS = 16
"""With so many of the best sets all others are compared; with their neighbours they always are."""


class Lattice:
    """The sets between a base and the base with all free tests, both ascending."""

    def __init__(self, base: IntArray, free: IntArray) -> None:
        self.base, self.free = base, free
        self.alive = np.ones(1 << len(free), dtype=np.bool_)

    @property
    def k(self) -> int:
        """Number of free tests."""
        return len(self.free)

    @property
    def top(self) -> int:
        """The union of the sets alive."""
        return int(np.bitwise_or.reduce(np.flatnonzero(self.alive)))

    def members(self, number: int) -> tuple[int, ...]:
        """Return the tests of a set."""
        chosen = [int(i) for n, i in enumerate(self.free) if number >> n & 1]
        return tuple(sorted([*self.base.tolist(), *chosen]))

    def rewards(self, scatter: Scatter, costs: Prices, scale: float) -> FloatArray:
        """Return the estimated reward of every set, less that of the base's entropy, shape (2^k,).

        The scatter is that of rounds that measured the base and all free tests.
        """
        from proband.agents.entropy.certificates.lattice_kernel import log_determinants

        logs = log_determinants(self.schur(scatter))
        sizes = np.bitwise_count(np.arange(len(logs), dtype=np.uint64))
        entropies = sizes * (LOG_TWO_PI_E - np.log(max(scatter.degrees, 1))) + logs
        return np.asarray(scale / 2 * entropies - costs.of_all(self.base, self.free))

    def schur(self, scatter: Scatter) -> FloatArray:
        """Return the scatter of the free tests that it has, given the base."""
        base = np.searchsorted(scatter.sites, self.base)
        free = np.flatnonzero(np.isin(scatter.sites, self.free))
        matrix = scatter.matrix[np.ix_(free, free)]
        if len(base):
            across = scatter.matrix[np.ix_(base, free)]
            matrix = matrix - across.T @ solve(scatter.matrix[np.ix_(base, base)], across)
        return np.ascontiguousarray((matrix + matrix.T) / 2)

    def widths(self, event: Event, scale: float) -> FloatArray:
        """Return widths of rewards by tests in common, a and b, shape (k + 1, k + 1, k + 1)."""
        base = len(self.base)
        return scale / 2 * np.stack([event.pairs(base + common, self.k, self.k) for common in range(self.k + 1)])

    def compare(self, rewards: FloatArray, widths: FloatArray) -> None:
        """Drop the sets that a rival beats for sure."""
        from proband.agents.entropy.certificates.lattice_kernel import eliminate

        alive = np.flatnonzero(self.alive)
        rivals = alive[np.argsort(-rewards[alive], kind="stable")[:RIVALS]]
        eliminate(self.k, rewards, self.alive, widths, rivals)
        if not self.alive.any():  # only where the widths have failed: somebody must be measured
            self.alive[rivals[0]] = True

    def best(self, rewards: FloatArray) -> int:
        """Return the number of the set alive with the largest estimated reward."""
        return int(np.argmax(np.where(self.alive, rewards, -np.inf)))

    def bound(self, rewards: FloatArray, widths: FloatArray, best: int) -> float:
        """Return by how much any set alive may beat the best one."""
        sets = np.flatnonzero(self.alive).astype(np.uint64)
        own = np.uint64(best)
        off = widths[np.bitwise_count(sets & own), np.bitwise_count(sets & ~own), np.bitwise_count(own & ~sets)]
        return float((rewards[sets] - rewards[best] + off).max())

    def maximal(self) -> IntArray:
        """Return the sets alive that lie in no other one: the paper's parents."""
        sets = np.flatnonzero(self.alive)
        sets = sets[np.argsort(-np.bitwise_count(sets.astype(np.uint64)).astype(np.int64), kind="stable")]
        found: list[int] = []
        for candidate in sets.tolist():
            if not any(candidate & ~parent == 0 for parent in found):
                found.append(candidate)
        return np.array(found, dtype=np.int64)

    def settled(self) -> Lattice:
        """Return the lattice without the tests that all sets alive have, or none has."""
        sets = np.flatnonzero(self.alive)
        always, ever = int(np.bitwise_and.reduce(sets)), int(np.bitwise_or.reduce(sets))
        kept = [n for n in range(self.k) if (ever & ~always) >> n & 1]
        if len(kept) == self.k:
            return self
        joined = [int(self.free[n]) for n in range(self.k) if always >> n & 1]
        smaller = Lattice(np.array(sorted([*self.base.tolist(), *joined]), dtype=np.int64), self.free[kept])
        numbers = np.array([always])
        for n in kept:
            numbers = np.concatenate([numbers, numbers | 1 << n])
        smaller.alive = self.alive[numbers]
        return smaller
