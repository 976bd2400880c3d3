"""The solution of a line: values and best actions in every state (tested set, posterior mean of z)."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import StateError
from proband.piecewise import PiecewiseLinear
from proband.planners.gaussian.line.basis_kernel import N
from proband.planners.gaussian.line.conditioning_kernel import condition_many
from proband.planners.gaussian.line.instance import Instance, Units
from proband.planners.gaussian.line.problem import Line
from proband.planners.gaussian.line.solution_kernel import loss_after, read
from proband.planners.gaussian.line.tables import Level, Scratch, Settings
from proband.vocabulary import FloatArray, IntArray


class _Own(threading.local):
    """Working arrays of each thread that reads solutions."""

    def __init__(self) -> None:
        self.scratch = Scratch.room()


OWN = _Own()


@dataclass(frozen=True, eq=False)
class LineSolution:
    """Values and actions of all states of a line.

    A state is a set of tests done, as bits (those known on arrival always among them), and the posterior mean of z.

    Attributes
    ----------
    line : Line
    instance, units, settings
        The line in standard units, what these are worth, and how accurately it was solved.
    levels : tuple of Level
        Panels of the sets with 0, 1, ... run tests.
    error : float
        Estimate of the largest error of any value: the propagation from set to set is rigorous, each set's own part
        rests on how fast its series fall, which is an estimate.
    complete : bool
        False if the time limit stopped the induction: the sets left then decide at once, and `error` says what that
        may cost.
    seconds : float
        What solving took.

    Examples
    --------
    >>> from proband.planners.gaussian import solve_line
    >>> reward = PiecewiseLinear([0.0], [[1.0, 0.0], [0.0, 1.0]], np.zeros((2, 2)))
    >>> solution = solve_line(Line([[1.0]], [1.0], 0.0, [0.2], reward))
    >>> solution.values([0, 0, 1], [0.0, 2.0, 2.0]).round(4), solution.actions([0, 0, 1], [0.0, 2.0, 2.0])
    (array([0.8   , 0.9772, 1.    ]), array([0, 2, 2]))
    >>> solution.action_values(0, 0.0).round(4), solution.error < 1e-6
    (array([0.8, 0.5, 0.5]), True)
    """

    line: Line
    instance: Instance
    units: Units
    settings: Settings
    levels: tuple[Level, ...]
    error: float
    complete: bool
    seconds: float

    @property
    def n_panels(self) -> int:
        """Number of panels over all sets."""
        return sum(len(level.low) for level in self.levels)

    @property
    def n_nodes(self) -> int:
        """Number of points at which losses are kept."""
        return N * self.n_panels

    @property
    def nbytes(self) -> int:
        """Bytes that the panels and their index take."""
        one = self.levels[0]
        panels = (array for level in self.levels for array in level.panels)
        return sum(array.nbytes for array in (one.first, one.length, one.error, *panels))

    @cached_property
    def perfect_information(self) -> PiecewiseLinear:
        """The best reward for each z, as one function."""
        return self.line.reward.upper_envelope()

    @cached_property
    def value(self) -> float:
        """Expected reward minus costs of a new subject: the mean over what is known on arrival."""
        if self.units.arrival == 0:
            return float(self.values([self.line.context], [self.line.mean_z])[0])
        loss = loss_after(self.levels[0], self.settings, 0, self.units.arrival, 0.0, OWN.scratch)
        best = self.perfect_information.expectation(self.line.mean_z, self.units.sd)
        return float(best[0] - self.units.scale * loss)

    def values(self, masks: ArrayLike, means: ArrayLike) -> FloatArray:
        """Return the value of each state: sets of tests (n,), posterior means of z (n,)."""
        sets, u = self._states(masks, means)
        losses, actions = self._read(sets, u)
        sd = self.posterior_sd(masks)
        given = np.asarray(means, dtype=np.float64)
        stopping = self.line.reward.expectation(given, sd).max(axis=-1)
        perfect = self.perfect_information.expectation(given, sd)[..., 0]
        testing = (actions >= 0) & (actions < self._m)
        return np.where(testing, perfect - self.units.scale * losses, stopping)

    def actions(self, masks: ArrayLike, means: ArrayLike) -> IntArray:
        """Return the best action of each state: a test 0 … d − 1, or d + a decision, shape (n,).

        Of equally good actions decisions come first, then the test with the lowest index.
        """
        sets, u = self._states(masks, means)
        _, found = self._read(sets, u)
        rewards = self.line.reward.expectation(np.asarray(means, dtype=np.float64), self.posterior_sd(masks))
        tied = rewards >= rewards.max(axis=-1, keepdims=True) - self.settings.tie * self.units.scale
        decisions = self.line.d + np.argmax(tied, axis=-1)
        testing = (found >= 0) & (found < self._m)
        tests = self.line.tests[np.where(testing, found, 0)] if self._m else decisions
        return np.where(testing, tests, decisions)

    def action_values(self, mask: int, mean: float) -> FloatArray:
        """Return the value of every action in one state, NaN for what is not possible, shape (d + decisions,)."""
        sets, u = self._states([mask], [mean])
        done, d = int(sets[0]), self.line.d
        found = np.full(d + self.line.reward.n, np.nan)
        sd = float(self.posterior_sd([mask])[0])
        found[d:] = self.line.reward.expectation(mean, sd)
        size = done.bit_count()
        if size + 1 >= len(self.levels):
            return found
        perfect, steps = self.perfect_information.expectation(mean, sd)[0], self._conditioned(sets)[1][0]
        for i, test in enumerate(self.line.tests):
            if not done >> i & 1:
                price = self.instance.prices[1 if done & self.instance.peers[i] else 0, i]
                below, step = self.levels[size + 1], float(steps[i])
                loss = loss_after(below, self.settings, done | 1 << i, step, float(u[0]), OWN.scratch)
                found[test] = perfect - self.units.scale * (price + loss)
        return found

    def posterior_sd(self, masks: ArrayLike) -> FloatArray:
        """Return the standard deviation of z after each set of tests, shape (n,)."""
        return self.units.unit * self._conditioned(self.line.sets(masks))[0]

    def steps(self, mask: int) -> FloatArray:
        """Return by how much each test would move the mean of z, as a standard deviation, shape (d,).

        0 for tests that are done, cannot be run, or tell nothing.
        """
        found = np.zeros(self.line.d)
        found[self.line.tests] = self.units.unit * self._conditioned(self.line.sets([mask]))[1][0]
        return found

    @property
    def _m(self) -> int:
        return len(self.line.tests)

    def _conditioned(self, sets: IntArray) -> tuple[FloatArray, FloatArray]:
        deviations, steps = condition_many(self.instance.factors, sets, self.instance.noise)
        return deviations, steps

    def _states(self, masks: ArrayLike, means: ArrayLike) -> tuple[IntArray, FloatArray]:
        """Return sets and means in standard units."""
        sets, given = self.line.sets(masks), np.atleast_1d(np.asarray(means, dtype=np.float64))
        if sets.shape != given.shape or not np.isfinite(given).all():
            raise StateError(
                f"there are {sets.shape} sets and {given.shape} means; there must be one finite mean for each set; "
                "correct them"
            )
        return sets, (given - self.units.origin) / self.units.unit

    def _read(self, sets: IntArray, means: FloatArray) -> tuple[FloatArray, IntArray]:
        losses, actions = np.full(len(sets), np.nan), np.full(len(sets), -1, dtype=np.int64)
        sizes = np.bitwise_count(sets)
        for size in np.unique(sizes[sizes < len(self.levels)]):
            here = sizes == size
            losses[here], actions[here] = read(self.levels[int(size)], sets[here], means[here], OWN.scratch)
        return losses, actions
