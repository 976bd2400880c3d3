r"""What each test is worth, and up to which price it is run.

A test is worth V - V(without it): the others replace it as well as they can. Alone it is worth what the best plan with
it and no other test brings more than deciding at once.

Let V(s) be the value of the best plan when the price of one test is multiplied by s. A plan that spends C on the test
at its present price brings R - s C, so V is convex and falls with slope -C(s), down to V(without it), where nobody runs
it any more. The price where that happens is found by following the slope: the line through (s, V(s)) meets the level
V(without it) at s + (V(s) - V(without it)) / C(s), never beyond the price that is sought, and a few such steps reach
it. Both sides are checked by planning again, half a per cent below and above. Where values are not those of best plans
(of a larger problem, or of a fit, which believes in another law for each plan) the interval is halved until it is as
small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from proband.planners import Plan
from proband.policies import Tree
from proband.policies.episodes import follow
from proband.policies.rules.places import Place, places
from proband.problem import Problem
from proband.reporting.recipes import Acting, Recipe, law_of

CLOSE = 0.005
"""By how much the price that is found may be off, of itself."""
TIE = 1e-9
MOST_PLANS = 30
"""For the price of one test."""


@dataclass(frozen=True)
class TestWorth:
    """What a test is worth.

    Attributes
    ----------
    test : str
    price : float
    within : float, optional
        Its price once another test of its group was run.
    on_arrival : bool
    share : float
        Of the subjects on whom it is run.
    worth : float
        What the plan is worth less without it, a subject.
    alone : float
        What it brings more than deciding at once, without any other test that is to be run.
    run_up_to : float, optional
        The price above which it is run on nobody; None if it is run at no price, infinite if at any.
    """

    __test__ = False

    test: str
    price: float
    within: float | None
    on_arrival: bool
    share: float
    worth: float
    alone: float
    run_up_to: float | None


@dataclass(frozen=True)
class PlaceWorth:
    """A test where the plan runs it.

    Attributes
    ----------
    test : str
    known : tuple of pairs of str
        Tests and outcomes on the way there.
    share : float
        Of the subjects who come there.
    price : float
        What it costs there.
    gain : float
        What going on there brings more than deciding at once, its price taken off.
    instead : str
        The decision that would be taken.
    """

    test: str
    known: tuple[tuple[str, str], ...]
    share: float
    price: float
    gain: float
    instead: str


def test_worths(recipe: Recipe, *, each: Callable[[], object] = lambda: None) -> list[TestWorth]:
    """Return what each test that can be known is worth, those that are worth most first.

    `each` is called after each test.

    Examples
    --------
    >>> from proband import plan
    >>> from proband.instances import bolts
    >>> from proband.reporting.recipes import Planned
    >>> found = test_worths(Planned(bolts().problem, bolts().distribution, plan))
    >>> found[0].test, round(found[0].worth, 3), found[0].run_up_to > found[0].price
    ('bolt weight', 0.437, True)
    """
    problem = recipe.problem
    known = [i for i, test in enumerate(problem.tests) if test.available]
    shares, deciding = _shares(recipe), recipe.again(problem=problem.without(problem.operable.tolist())).plan.value
    found = []
    for i in known:
        found.append(_worth(recipe, i, shares[i], deciding))
        each()
    return sorted(found, key=lambda one: (-one.worth, -one.share))


vars(test_worths)["__test__"] = False  # pytest would take it for a test


def place_worths(tree: Tree) -> list[PlaceWorth]:
    """Return where tests are run, and what they bring there beyond deciding at once; what brings most comes first.

    Examples
    --------
    >>> from proband import plan
    >>> from proband.instances import bolts
    >>> first = place_worths(plan(bolts().problem, bolts().distribution).tree())[0]
    >>> first.test, first.known, round(first.share, 3)
    ('bolt weight', (), 1.0)
    """
    found = [_at(tree, place) for place in places(tree) if place.node.children and place.node.probability > 0]
    return sorted((one for one in found if one is not None), key=lambda one: -one.share * one.gain)


def _worth(recipe: Recipe, i: int, share: float, deciding: float) -> TestWorth:
    problem, value = recipe.problem, recipe.plan.value
    test = problem.tests[i]
    less = value if share == 0 and not test.on_arrival else recipe.again(problem=problem.without([i])).plan.value
    others = [int(j) for j in problem.operable if j != i]
    if test.on_arrival:
        blind = problem.without([*problem.operable.tolist(), i])
        alone = deciding - recipe.again(problem=blind).plan.value
    else:
        alone = recipe.again(problem=problem.without(others)).plan.value - deciding
    up_to = None if test.on_arrival else _Search(recipe, i, share=share, less=less).price()
    return TestWorth(test.name, test.cost, test.group_cost, test.on_arrival, share, value - less, alone, up_to)


class _Search:
    """The search for the price up to which a test is run; prices are factors of the present one (of 1, if it is 0)."""

    def __init__(self, recipe: Recipe, test: int, *, share: float, less: float) -> None:
        problem, one = recipe.problem, recipe.problem.tests[test]
        self.recipe, self.test, self.less, self.runs = recipe, test, less, share > 0
        self.exact = recipe.plan.gap <= TIE
        self.unit = one.cost or 1.0
        self.problem = problem if one.cost else _with_price(problem, test, 1.0)
        # Within a group it may cost nothing at any price; otherwise nobody pays more than decisions differ by.
        self.free_within = one.group is not None and not one.group_cost
        prices = [price for price in (self.unit, one.group_cost) if price]
        self.most = 1.01 * float(np.ptp(problem.payoff(law_of(recipe.plan).support))) / min(prices)
        self.plans = 0

    def price(self) -> float | None:
        """Return the price; None if it is not even run for nothing, infinite if it is run at any price."""
        now = 1.0 if self.problem is self.recipe.problem else 0.0
        low, high = (now, self.most) if self.runs else (0.0, now)
        at_low = self._planned(low)
        if not at_low.share or high == 0:
            return None
        if self.free_within and self.runs and self._planned(high).share > 0:
            return np.inf
        probe = self._along(low, at_low)
        while high - low > 2.5 * CLOSE * high and self.plans < MOST_PLANS:
            between = float(np.sqrt(low * high)) if low > 0 else high / 4
            at = probe if low < probe < high else between
            found = self._planned(at)
            if found.share > 0:
                low, probe = at, self._along(at, found)
            else:
                high, probe = at, at * (1 - 2 * CLOSE) if self.exact else 0.0
        return self.unit * (low + high) / 2

    def _along(self, at: float, found: _Tried) -> float:
        """Return where the slope leads to, and a little further; nowhere if values are no best ones."""
        return (at + max(found.gain, 0.0) / found.spent) * (1 + CLOSE) if self.exact and found.spent > 0 else 0.0

    def _planned(self, factor: float) -> _Tried:
        self.plans += 1
        same = factor == 1 and self.problem is self.recipe.problem
        found = self.recipe if same else self.recipe.again(problem=self.problem.priced(factor, [self.test]))
        share = _shares(found)[self.test]
        return _Tried(found.plan.value - self.less, _spent(self.problem, found.plan, self.test), share)


class _Tried(NamedTuple):
    """What a plan gains on the one without a test, spends on it at a price of one, and on whom it is run."""

    gain: float
    spent: float
    share: float


def _with_price(problem: Problem, test: int, price: float) -> Problem:
    tests = list(problem.tests)
    tests[test] = replace(tests[test], cost=price)
    return replace(problem, tests=tuple(tests))


def _shares(recipe: Recipe) -> list[float]:
    """Return on which share of the subjects each test is run."""
    law = law_of(recipe.plan)
    ran = ~np.isnan(follow(recipe.problem, recipe.plan, law.support).states)
    return [float(share) for share in law.probabilities @ ran]


def _spent(problem: Problem, made: Plan, test: int) -> float:
    """Return what a plan spends on one test a subject, at the prices of a problem."""
    law, free = law_of(made), problem.priced(0.0, [test])
    paid, rest = (follow(each, Acting(made), law.support).costs for each in (problem, free))
    return float(law.probabilities @ (paid - rest))


def _at(tree: Tree, place: Place) -> PlaceWorth | None:
    node, problem = place.node, tree.problem
    if problem.tests[node.action].on_arrival:
        return None
    decisions = [other for other in node.alternatives if other.action >= problem.d]
    if not decisions:
        return None
    best = max(decisions, key=lambda other: other.value)
    known = tuple((problem.tests[i].name, problem.tests[i].names[b]) for i, b in place.path)
    done = np.zeros((1, problem.d), dtype=np.bool_)
    done[0, [i for i, _ in place.path]] = True
    price = float(problem.prices.after(done)[0, node.action])
    test, instead = problem.tests[node.action].name, problem.action_name(best.action)
    return PlaceWorth(test, known, node.probability, price, node.value - best.value, instead)
