"""What testing costs against what wrong decisions cost, as all prices rise or fall together.

All prices are multiplied by m, and the plan is made again: where tests are cheap more are run, and fewer decisions are
wrong. Each plan is then counted at the present prices: what its tests cost a subject, by how much its decisions bring
less than the best ones would, and how often they are the best ones. So the points are the best that can be had for any
weight of the one against the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from proband.distributions import Discrete
from proband.policies import ways
from proband.problem import Problem
from proband.reporting.recipes import Acting, Recipe, law_of
from proband.vocabulary import FloatArray, IntArray, Policy

MULTIPLIERS = tuple(2.0**power for power in range(-4, 5))
"""By which prices are multiplied: a sixteenth to sixteen times."""
TIE = 1e-9


@dataclass(frozen=True)
class Point:
    """What a plan for multiplied prices does, counted at the present ones.

    Attributes
    ----------
    multiplier : float
    cost, tests : float
        Costs of tests, and how many are run, a subject.
    lost : float
        By how much decisions bring less than the best ones would, a subject.
    right : float
        Share of subjects for whom no other decision would bring more.
    """

    multiplier: float
    cost: float
    tests: float
    lost: float
    right: float


def price_curve(
    recipe: Recipe,
    multipliers: Sequence[float] = MULTIPLIERS,
    *,
    each: Callable[[], object] = lambda: None,
) -> list[Point]:
    """Return the points, each under the law that its plan was made for.

    `each` is called after each plan.

    Examples
    --------
    >>> from proband import plan
    >>> from proband.instances import bolts
    >>> from proband.reporting.recipes import Planned
    >>> recipe = Planned(bolts().problem, bolts().distribution, plan)
    >>> cheap, now, dear = price_curve(recipe, (0.1, 1.0, 10.0))
    >>> cheap.cost > now.cost > dear.cost, cheap.lost < now.lost < dear.lost
    (True, True)
    """
    points = []
    for factor in multipliers:
        made = recipe.plan if factor == 1 else recipe.again(problem=recipe.problem.priced(factor)).plan
        points.append(Point(factor, *_by_law(recipe.problem, made, law_of(made))))
        each()
    return points


def judged(problem: Problem, rows: FloatArray, actions: IntArray) -> FloatArray:
    """Return by how much decisions on complete rows (n, d) bring less than the best ones would, shape (n,).

    Examples
    --------
    >>> from proband import Test
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> judged(problem, np.array([[0.0], [1.0]]), np.array([1, 1]))
    array([ 0., 20.])
    """
    best = problem.payoff(rows).max(axis=1)
    lost = best - problem.realised(rows, actions)
    return np.where(lost > TIE * np.maximum(1.0, np.abs(best)), lost, 0.0)


def seen_point(multiplier: float, cost: FloatArray, tests: FloatArray, lost: FloatArray) -> Point:
    """Return the point of what happened to n subjects."""
    return Point(multiplier, float(cost.mean()), float(tests.mean()), float(lost.mean()), float((lost == 0).mean()))


def _by_law(problem: Problem, policy: Policy, law: Discrete) -> tuple[float, float, float, float]:
    cost = tests = lost = right = 0.0
    for way in ways(problem, Acting(policy), law.support):
        p = law.probabilities * way.chances
        wrong = judged(problem, law.support, way.actions)
        cost, tests = cost + float(p @ way.costs), tests + float(p @ way.tests)
        lost, right = lost + float(p @ wrong), right + float(p[wrong == 0].sum())
    return cost, tests, lost, right
