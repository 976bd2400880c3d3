"""A bridge from measurements to listed outcomes, for rewards that fit no projection.

Each measurement is cut into bins at quantiles of its law; where a reward's score is one measurement alone, the limits
of the reward are edges too. The law of the bins is that of subjects drawn from a Gaussian (or of the records
themselves), and a cell's reward is the mean over its subjects, f(bins, y) = E[f(x, y) | bins]. Every planner for listed
outcomes then works, and its policy is played on measurements by binning them first.

What is lost is told in two numbers that need no plan: what a subject brings when everything is measured and decided on
measurements, E max_y f(x, y), and when decided on bins, E max_y E[f(x, y) | bins].
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete, Distribution
from proband.errors import DistributionError, ProblemError, TooLargeError
from proband.problem import Problem
from proband.rewards import Projection, Table
from proband.vocabulary import FloatArray, IntArray, Policy, Records, Test, outcome_codes, outcome_rows

SUBJECTS = 2**17
LARGEST_TABLE = 2**22


@dataclass(frozen=True)
class Binning:
    """A measured problem and its binned counterpart.

    Attributes
    ----------
    measured, problem : Problem
        With measurements, and with bins as outcomes.
    distribution : Discrete
        The law of the bins.
    edges : tuple of FloatArray
        For each test where its measurements are cut.
    everything, everything_binned : float
        What a subject brings, costs aside, when everything is measured: decided on measurements, and on bins.
    standard_error : float
        Of their difference.
    """

    measured: Problem
    problem: Problem
    distribution: Discrete
    edges: tuple[FloatArray, ...]
    everything: float
    everything_binned: float
    standard_error: float

    @property
    def loss(self) -> float:
        """What deciding on bins loses a subject when everything is measured."""
        return self.everything - self.everything_binned

    def states(self, states: ArrayLike) -> FloatArray:
        """Return states of measurements (n, d) as states of bins."""
        return to_bins(self.measured.states(states), self.edges)

    def policy(self, policy: Policy) -> BinnedPolicy:
        """Return a policy for the bins as one for measurements."""
        return BinnedPolicy(self, policy)


@dataclass(frozen=True)
class BinnedPolicy:
    """A policy for bins, played on measurements."""

    binning: Binning
    policy: Policy

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the action of each state of measurements (n, d), shape (n,)."""
        return self.policy.act(self.binning.states(states), coins)

    @cached_property
    def problem(self) -> Problem:
        """The measured problem."""
        return self.binning.measured


def discretise(
    problem: Problem,
    source: Distribution | Records,
    *,
    bins: int = 4,
    subjects: int = SUBJECTS,
    rng: np.random.Generator | None = None,
) -> Binning:
    """Bin the measurements of a problem.

    Parameters
    ----------
    problem : Problem
        With measured tests; its reward is a projection or any function f(x, y).
    source : Distribution or Records
        The law of the measurements, or past subjects (their complete rows are used).
    bins : int, default 4
        How many quantile bins a measurement gets.
    subjects : int, optional
        How many are drawn from a law.
    rng : numpy.random.Generator, optional
        Draws them; by default always the same ones.

    Examples
    --------
    >>> from proband import Gaussian, Problem, Test, plan
    >>> tests = [Test("length", 0.1, outcomes=None, unit="mm"), Test("width", 0.1, outcomes=None, unit="mm")]
    >>> area = Problem(tests, ["pass", "fail"], lambda x, y: (1 - y) * (x[:, 0] * x[:, 1] - 1.0))
    >>> binning = discretise(area, Gaussian([1.0, 1.0], [[0.04, 0.0], [0.0, 0.04]]), bins=6)
    >>> [len(edges) for edges in binning.edges], 0 < binning.loss < 0.02
    ([5, 5], True)
    >>> binning.policy(plan(binning.problem, binning.distribution)).act([[float("nan"), 1.9]]) == [2]
    array([ True])
    """
    rows = _rows(problem, source, subjects, np.random.default_rng(0) if rng is None else rng)
    if bins < 2:
        raise ProblemError(f"bins is {bins}; a measurement is cut into 2 or more; give that many")
    edges = tuple(_edges(problem, i, column, bins) for i, column in enumerate(rows.T))
    tests = [_binned(test, cuts) for test, cuts in zip(problem.tests, edges, strict=True)]
    size = math.prod(test.k for test in tests) * len(problem.decisions)
    if size > LARGEST_TABLE:
        raise TooLargeError(
            f"{bins} bins of {problem.d} tests and {len(problem.decisions)} decisions make {size:,} utilities; at most "
            f"{LARGEST_TABLE:,} are kept; take fewer bins, or fewer tests"
        )
    codes = outcome_codes(to_bins(rows, edges), tests)
    payoff = problem.payoff(rows)
    utilities = _utilities(problem, tests, codes, payoff, rows)
    targets = [test.name for test in tests]
    table = Table(targets, utilities.reshape(*(test.k for test in tests), len(problem.decisions)))
    seen, counts = np.unique(codes, return_counts=True)
    exact, binned = payoff.max(axis=1), utilities[codes].max(axis=1)
    deciding = np.take_along_axis(payoff, utilities[codes].argmax(axis=1)[:, None], axis=1)[:, 0]
    return Binning(
        problem,
        Problem(tests, problem.decisions, table, name=problem.name, unit=problem.unit),
        Discrete.from_weights(outcome_rows(seen, tests), counts.astype(np.float64)),
        edges,
        float(exact.mean()),
        float(binned.mean()),
        float((exact - deciding).std() / math.sqrt(len(rows))),
    )


def to_bins(rows: FloatArray, edges: tuple[FloatArray, ...]) -> FloatArray:
    """Return measurements (n, d) as numbers of bins, NaN where they are not known.

    Examples
    --------
    >>> to_bins(np.array([[0.5, np.nan], [2.0, 1.0]]), (np.array([1.0, 2.0]), np.array([0.0])))
    array([[ 0., nan],
           [ 2.,  1.]])
    """
    binned = np.column_stack([np.searchsorted(cuts, rows[:, i], side="right") for i, cuts in enumerate(edges)])
    return np.where(np.isnan(rows), np.nan, binned.astype(np.float64))


def _rows(problem: Problem, source: Distribution | Records, subjects: int, rng: np.random.Generator) -> FloatArray:
    if not problem.measured:
        raise ProblemError("the tests list outcomes already; binning is for measured tests; plan the problem as it is")
    if not isinstance(source, Records):
        source.check(problem)
        return source.sample(rng, subjects)
    complete = source.complete()
    if complete.n < 2:
        raise DistributionError(f"{complete.n} records are complete; binning needs two or more; add some")
    return complete.subjects


def _edges(problem: Problem, test: int, column: FloatArray, bins: int) -> FloatArray:
    """Return quantiles, and the reward's limits where a score is this test alone."""
    cuts = np.quantile(column, np.arange(1, bins) / bins)
    if isinstance(problem.reward, Projection):
        knots, _, _ = problem.reward.cells(problem.decisions)
        for score, limits in zip(problem.reward.scores, knots, strict=True):
            weights = score.row(problem.tests)
            if weights[test] != 0 and np.count_nonzero(weights) == 1:
                cuts = np.append(cuts, (limits - score.offset) / weights[test])
    cuts = np.unique(cuts)
    below = np.searchsorted(np.sort(column), cuts, side="left")
    _, first = np.unique(below, return_index=True)  # of cuts with nothing between them one is enough
    return cuts[[n for n in first if 0 < below[n] < len(column)]]


def _binned(test: Test, cuts: FloatArray) -> Test:
    numbers = [f"{cut:.6g}" for cut in cuts]
    if len(set(numbers)) < len(numbers):
        numbers = [repr(float(cut)) for cut in cuts]
    unit = f" {test.unit}" if test.unit else ""
    between = [f"{a} to {b}{unit}" for a, b in itertools.pairwise(numbers)]
    names = [f"below {numbers[0]}{unit}", *between, f"{numbers[-1]}{unit} or more"] if numbers else ["any"]
    return replace(test, outcomes=names, unit="")


def _utilities(
    problem: Problem, tests: list[Test], codes: IntArray, payoff: FloatArray, rows: FloatArray
) -> FloatArray:
    """Return the mean reward of each cell; of a cell that no subject fell into, the reward between its edges."""
    cells = math.prod(test.k for test in tests)
    counts = np.bincount(codes, minlength=cells)
    sums = np.column_stack([np.bincount(codes, weights=column, minlength=cells) for column in payoff.T])
    utilities = sums / np.maximum(counts, 1)[:, None]
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        utilities[empty] = problem.payoff(_centres(tests, codes, rows, empty))
    return utilities


def _centres(tests: list[Test], codes: IntArray, rows: FloatArray, cells: IntArray) -> FloatArray:
    """Return a typical vector of measurements for cells: the mean of each test's measurements in its bin."""
    binned = outcome_rows(codes, tests).astype(np.int64)
    wanted = outcome_rows(cells, tests).astype(np.int64)
    centres = np.empty(wanted.shape)
    for i, test in enumerate(tests):
        counts = np.bincount(binned[:, i], minlength=test.k)
        sums = np.bincount(binned[:, i], weights=rows[:, i], minlength=test.k)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), rows[:, i].mean())
        centres[:, i] = means[wanted[:, i]]
    return centres
