"""The solution of a plane: values and best actions in every state (tested set, posterior mean of z)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.errors import StateError
from proband.piecewise.plane_kernel import expect_many
from proband.planners.gaussian.plane.induction import Induction
from proband.planners.gaussian.plane.problem import Plane
from proband.vocabulary import FloatArray, IntArray

TIE = 1e-9
"""A test must be better than deciding by this share of what deciding loses: rounding decides nothing."""


@dataclass(frozen=True, eq=False)
class PlaneSolution:
    """Values and actions of all states of a plane.

    A state is a set of tests done, as bits (those known on arrival always among them), and the posterior mean of z.
    Deciding and perfect information are exact; what a test is worth is integrated along its line over the losses kept
    for the sets with one test more. These reach as far as the tests done can move the mean, `induction.rule.reach`
    standard deviations each way. Beyond, and for means that the tests cannot lead to, the plan looks one test ahead.

    Attributes
    ----------
    plane : Plane
    induction : Induction
        The losses of all sets on the finest grid.
    error : float
        Estimate of the error of `value`: a multiple of what the last refinement of the grid changed. It is no bound,
        and values of rare states may be off by more.
    complete : bool
        Whether the grid was refined until `error` was within the tolerance; False where time or memory ran out first.
    seconds : float
        What solving took.
    """

    plane: Plane
    induction: Induction
    error: float
    complete: bool
    seconds: float

    @property
    def n_nodes(self) -> int:
        """Number of coefficients that are kept."""
        return sum(table.blocks.size for table in self.induction.tables.values() if table is not None)

    @property
    def nbytes(self) -> int:
        """Bytes that the losses take."""
        return sum(table.nbytes for table in self.induction.tables.values() if table is not None)

    @cached_property
    def value(self) -> float:
        """Expected reward minus costs of a new subject: the mean over what is known on arrival."""
        instance = self.induction.sets.instance
        best = expect_many(instance.surfaces, np.zeros((1, 2)), instance.prior, self.plane.reward.n + 1)[0, -1]
        return float(best - self.induction.loss_on_arrival())

    def values(self, masks: ArrayLike, means: ArrayLike) -> FloatArray:
        """Return the value of each state: sets of tests (n,), posterior means of z (n, 2)."""
        sets, points = self._states(masks, means)
        found = np.empty(len(sets))
        for done, here in _alike(sets):
            losses = self.induction.action_losses(done, points[here])
            found[here] = self._perfect(done, points[here]) - losses.min(axis=0)
        return found

    def actions(self, masks: ArrayLike, means: ArrayLike) -> IntArray:
        """Return the best action of each state: a test 0 … d − 1, or d + a decision, shape (n,).

        Of equally good actions decisions come first, then the test with the lowest index.
        """
        sets, points = self._states(masks, means)
        n, d = self.plane.reward.n, self.plane.d
        codes = np.concatenate([d + np.arange(n), self.plane.tests])
        found = np.empty(len(sets), dtype=np.int64)
        for done, here in _alike(sets):
            losses = self.induction.action_losses(done, points[here])
            losses[n:] += TIE * losses[:n].min(axis=0)
            found[here] = codes[losses.argmin(axis=0)]
        return found

    def action_values(self, mask: int, mean: ArrayLike) -> FloatArray:
        """Return the value of every action in one state, NaN for what is not possible, shape (d + decisions,)."""
        sets, points = self._states([mask], np.reshape(np.asarray(mean, dtype=np.float64), (1, -1)))
        done, n, d = int(sets[0]), self.plane.reward.n, self.plane.d
        losses = self.induction.action_losses(done, points, every=True)[:, 0]
        values = np.where(np.isfinite(losses), self._perfect(done, points)[0] - losses, np.nan)
        found = np.full(d + n, np.nan)
        found[d:], found[self.plane.tests] = values[:n], values[n:]
        return found

    def posterior_sd(self, masks: ArrayLike) -> FloatArray:
        """Return the standard deviation of each score after each set of tests, shape (n, 2)."""
        return np.sqrt(np.diagonal(self.posterior_covariance(masks), axis1=1, axis2=2))

    def posterior_covariance(self, masks: ArrayLike) -> FloatArray:
        """Return the covariance of z after each set of tests, shape (n, 2, 2)."""
        scores, units = self.induction.sets.scores[self.plane.sets(masks)], self.induction.sets.instance.units
        return np.asarray(scores[:, [[0, 1], [1, 2]]] * np.outer(units, units))

    def steps(self, mask: int) -> FloatArray:
        """Return by how much each test would move the mean of z, as standard deviations, shape (d, 2).

        0 for tests that are done, cannot be run, or tell nothing; the signs say whether both scores move together.
        """
        found = np.zeros((self.plane.d, 2))
        steps, units = self.induction.sets.steps[self.plane.sets([mask])[0]], self.induction.sets.instance.units
        found[self.plane.tests] = steps * units
        return found

    def _perfect(self, done: int, points: FloatArray) -> FloatArray:
        sets, n = self.induction.sets, self.plane.reward.n
        return np.asarray(expect_many(sets.instance.surfaces, points, sets.scores[done], n + 1)[:, n])

    def _states(self, masks: ArrayLike, means: ArrayLike) -> tuple[IntArray, FloatArray]:
        """Return sets and means in standard units."""
        sets, given = self.plane.sets(masks), np.asarray(means, dtype=np.float64)
        if given.shape != (len(sets), 2) or not np.isfinite(given).all():
            raise StateError(
                f"there are {len(sets)} sets and means of shape {given.shape}; there must be two finite numbers for "
                "each set; correct them"
            )
        instance = self.induction.sets.instance
        return sets, np.ascontiguousarray((given - instance.origin) / instance.units)


def _alike(sets: IntArray) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Yield each different set and where it occurs."""
    for done in np.unique(sets):
        yield int(done), sets == done
