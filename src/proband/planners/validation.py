"""What a plan made from records brings to subjects that it has not seen: cross-validation.

The value that a plan states under the law of its own records is in-sample: the plan was chosen because it does well
on these very rows. Here the rows are dealt into K folds. For each fold the law is learned and the plan made without its
rows, and these are then treated by it. The mean over all rows estimates the value of plans made from (K - 1)/K of them.

The rows' spread alone would make the interval too short: rows share plans, and the plan at hand is another one than
those of the folds. So the whole is done again without each fold j, with plans that saw neither fold j nor the rows that
they treat, m_j, and the standard error is the larger one of s/√n (s the spread of the n rows) and the jackknife's,
√((K - 1)/K · Σ (m_j - m̄)²). The interval is the mean ± t standard errors. Plans from more rows are better: from
(K - 2)/K to (K - 1)/K of the rows the mean m rose by m - m̄, and if what is lost to few rows falls as 1/n, the plan
from all of them is worth (K - 2)/K · (m - m̄) more. The interval reaches on by so much on this side; the mean stays.

It covers the chance of which subjects came into the table, for the plan and for the rows that test it. It does not
cover that complete rows may be unlike the others, nor that tomorrow's subjects may be unlike those of the table; and
where few rows decide everything (one costly case in a thousand) no interval from these rows can be trusted.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.distributions import Distribution
from proband.errors import PlanError
from proband.planners.progress import Progress, Report
from proband.planners.rivals import rivals_of
from proband.policies import DecideNow, follow, test_everything
from proband.problem import Problem
from proband.showing import Shown
from proband.vocabulary import FloatArray, IntArray, Kind, Policy, Records

LEVEL = 0.9
"""Of the intervals."""

Treated = tuple[FloatArray, FloatArray, FloatArray]
"""What a policy brings to some subjects, what it pays and how many tests it runs."""

Treat = Callable[[IntArray, list[IntArray]], list[dict[str, Treated]]]
Run = Callable[[Treat, list[IntArray], list[list[IntArray]]], Iterable[list[dict[str, Treated]]]]

BASELINES: dict[str, Callable[[Problem, Distribution], Policy]] = {
    "everything": test_everything,
    "now": lambda problem, law: DecideNow(problem, distribution=law),
}
"""What stands beside every plan, by the same law; beside them the rivals of :mod:`proband.planners.rivals`."""


@dataclass(frozen=True)
class Interval:
    """A mean over rows, with its standard error and the limits of its interval."""

    mean: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True)
class Scores:
    """What a policy brought to rows that it had not seen.

    Attributes
    ----------
    value : Interval
        Rewards minus costs, a subject.
    cost, tests : float
        Costs paid and tests run, a subject.
    ahead : Interval, optional
        By how much the plan brought more than this policy to the same rows; None for the plan itself.
    """

    value: Interval
    cost: float
    tests: float
    ahead: Interval | None = None


@dataclass(frozen=True)
class Validation(Shown):
    """A plan that was made again and again without some rows, on these rows.

    Attributes
    ----------
    folds : int
    scored, left_out : int
        Rows that were treated, and incomplete ones, which taught what they could but cannot be treated.
    plan : Scores
    others : dict of str to Scores
        By the names of `BASELINES`, and those of :data:`~proband.planners.rivals.RIVALS` where outcomes are listed.
    """

    folds: int
    scored: int
    left_out: int
    plan: Scores
    others: dict[str, Scores]


def cross_validate(
    problem: Problem,
    records: Records,
    learn: Callable[[Records], Distribution],
    make: Callable[[Distribution], Policy],
    *,
    folds: int = 5,
    max_tests: int | None = None,
    budget: float | None = None,
    rng: np.random.Generator | None = None,
    progress: Report | None = None,
) -> Validation:
    """Return what a way to plan brings to subjects that it has not seen.

    Parameters
    ----------
    problem : Problem
    records : Records
        Past subjects. Only complete ones are treated; how many are not is told.
    learn : callable
        Records to a law: everything that is chosen by looking at records belongs here.
    make : callable
        A law to a policy.
    folds : int, default 5
        Into how many parts the rows are dealt, at random, three or more; K (K + 1)/2 plans are made.
    max_tests, budget : optional
        Limits of the plan that its rivals keep, too.
    rng : numpy.random.Generator, optional
        Deals them; by default always alike.
    progress : callable, optional
        Called after each plan with a :class:`~proband.planners.progress.Progress`.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test, plan
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> records = Records([[0.0]] * 30 + [[1.0]] * 10)
    >>> found = cross_validate(problem, records, Discrete.from_records, lambda law: plan(problem, law), folds=5)
    >>> round(found.plan.value.mean, 3), round(found.others["now"].value.mean, 3)
    (0.65, 0.0)
    """
    rows = records.subjects
    complete = np.asarray(~np.isnan(rows).any(axis=1))
    _check(problem, folds, int(complete.sum()))

    def treat(train: IntArray, parts: list[IntArray]) -> list[dict[str, Treated]]:
        law = learn(Records(rows[train]))
        policies = {"plan": make(law), **{name: rival(problem, law) for name, rival in BASELINES.items()}}
        policies |= rivals_of(problem, law, subjects=len(train), max_tests=max_tests, budget=budget)
        return [{name: _treated(problem, policy, rows[part]) for name, policy in policies.items()} for part in parts]

    return by_folds(complete, treat, folds=folds, rng=rng, progress=progress)


def by_folds(
    scored: NDArray[np.bool_],
    treat: Treat,
    *,
    folds: int,
    rng: np.random.Generator | None = None,
    progress: Report | None = None,
    run: Run = map,
) -> Validation:
    """Return what ways to treat subjects bring to those that they have not seen.

    Parameters
    ----------
    scored : array of bool, shape (n,)
        Which subjects can be treated.
    treat : callable
        From subjects to learn from and parts of others (indices) to what each way brings to each of these parts:
        values, costs and numbers of tests. One way is called "plan".
    folds, rng, progress
        As for :func:`cross_validate`.
    run : callable, default map
        How calls are made, as the `map` of an executor.
    """
    rng, began = np.random.default_rng(0) if rng is None else rng, time.perf_counter()
    fold = rng.permutation(np.arange(len(scored)) % folds)
    left_out = list(itertools.combinations_with_replacement(range(folds), 2))
    whole = [list(dict.fromkeys([(j, k), (k, j)])) for j, k in left_out]
    parts = [[np.flatnonzero((fold == treated) & scored) for _, treated in pairs] for pairs in whole]
    trained = [np.flatnonzero((fold != j) & (fold != k)) for j, k in left_out]
    totals: dict[str, _Total] = {}
    for done, (pairs, here, found) in enumerate(zip(whole, parts, run(treat, trained, parts), strict=True), 1):
        for (without, treated), part, ways in zip(pairs, here, found, strict=True):
            for name, brought in ways.items():
                totals.setdefault(name, _Total(len(scored), folds)).add(without, treated, part, brought)
        if progress is not None:
            seconds, total = time.perf_counter() - began, len(left_out)
            progress(Progress(seconds=seconds, value=math.nan, bound=math.nan, what="plans", done=done, total=total))
    plan = totals.pop("plan")
    others = {name: total.scores(scored, plan) for name, total in totals.items()}
    return Validation(folds, int(scored.sum()), int((~scored).sum()), plan.scores(scored), others)


def interval(numbers: FloatArray, *, again: FloatArray | None = None, level: float = LEVEL) -> Interval:
    """Return the mean of numbers (n,) and an interval for what they are drawn from.

    `again` are the means (K,) when all is done again without each of K parts of the numbers.

    Examples
    --------
    >>> found = interval(np.array([1.0, 2.0, 3.0]))
    >>> round(found.low, 3), found.mean, round(found.high, 3)
    (0.314, 2.0, 3.686)
    """
    from scipy.special import stdtrit

    mean, n = float(numbers.mean()), len(numbers)
    error = float(numbers.std(ddof=1) / math.sqrt(n))
    trend = 0.0
    if again is not None:
        error = max(error, math.sqrt((len(again) - 1) * float(again.var())))
        trend = (1 - 2 / len(again)) * (mean - float(again.mean()))
    reach = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    return Interval(mean, error, mean - reach + min(trend, 0.0), mean + reach + max(trend, 0.0))


class _Total:
    """What a policy did to rows (n,), each by a plan that did not see it, and sums over folds by plans that saw less.

    `sums` and `counts` (K, K) are those of the rows of the second fold, treated by plans made without both.
    """

    def __init__(self, n: int, folds: int) -> None:
        self.value, self.cost, self.tests = np.zeros(n), np.zeros(n), np.zeros(n)
        self.sums, self.counts = np.zeros((folds, folds)), np.zeros((folds, folds))

    def add(self, without: int, treated: int, here: IntArray, found: Treated) -> None:
        if not len(here):
            return
        if without == treated:
            self.value[here], self.cost[here], self.tests[here] = found
        else:
            self.sums[without, treated], self.counts[without, treated] = found[0].sum(), len(here)

    @property
    def again(self) -> FloatArray:
        """The mean when all is done again without each fold, shape (K,)."""
        return np.asarray(self.sums.sum(axis=1) / self.counts.sum(axis=1))

    def scores(self, rows: NDArray[np.bool_], plan: _Total | None = None) -> Scores:
        cost, tests = (float(part[rows].mean()) for part in (self.cost, self.tests))
        value = interval(self.value[rows], again=self.again)
        if plan is None:
            return Scores(value, cost, tests)
        return Scores(value, cost, tests, interval((plan.value - self.value)[rows], again=plan.again - self.again))


def _treated(problem: Problem, policy: Policy, rows: FloatArray) -> Treated:
    """Return what a policy brings to each row, what it pays, and how many tests it runs."""
    if not len(rows):
        return np.zeros(0), np.zeros(0), np.zeros(0)
    ended = follow(problem, policy, rows)
    return problem.realised(rows, ended.actions) - ended.costs, ended.costs, ended.tests.astype(np.float64)


def _check(problem: Problem, folds: int, complete: int) -> None:
    if problem.kind is Kind.SETS:
        raise PlanError("the entropy of a set is no sum over subjects, so rows cannot tell it; leave the folds out")
    if folds < 3 or folds > complete:
        raise PlanError(
            f"folds is {folds}, and {complete} rows are complete; there are at least three folds, and no more than "
            "complete rows; give another number, or more rows"
        )
