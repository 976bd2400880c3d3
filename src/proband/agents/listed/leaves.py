"""Where plans of listed outcomes stop, and what that may lose, for leaf completion.

A leaf is a state s. With posterior draws D_1 ... D_J, the estimate P, and the leaf's decision y,

    loss  = mean_j [ V_j(s) − Σ_{x in s} D_j(x) f(x, y) ]⁺       what the leaf may lose a subject (unnormalised),
    kappa = Σ_{x in s} P(x) (f(x, y) − max_y' f(x, y')) + P(s) · (price of the remaining tests)    of looking,
    n     = complete subjects seen in s.

V_j comes from the table of all states where that is small, and otherwise from small tables below the leaves
(:mod:`proband.planners.below`): then it may be too low, and where a leaf has most to gain it is exact or nearly so.

In some blocks the tests of another plan are run instead of those of the estimate's plan, which is how better tests are
found. Most of what a plan loses is lost by the wrong tests above its leaves (four fifths of it on the paper's
instances), and coins do not see that. The rivals are the plans of the draws. Each of them

    loses  l = V_P(plan) − V_P(rival)  a subject of the block,     and may bring  e = mean_j [ V_j(rival) − V_j(plan) ]⁺

to the subjects to come, `WORTH` of them for each one of the block. The rival with the largest WORTH·e − l is played if
that is positive: early, when draws differ from the estimate everywhere, none is. Now and then the plan of a draw is
played whatever it seems worth, for what seems worth nothing may be wrong, and without that an agent can be stuck. Where
the table is large there is no time to compare, and rivals are played like that only. Decisions are the estimate's
always. A coin stays below 1 (a chance of 1 always means that the plan itself runs every test).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from proband.agents.agent import fully_tested
from proband.agents.estimates import NO_LIMITS, PerSubject, Planner
from proband.agents.listed.reference import WeightedSubjects
from proband.agents.stops import Stops
from proband.distributions import totals
from proband.errors import AgentError
from proband.estimators import Likelihood
from proband.planners.below import values_below
from proband.planners.dense import check_size, solve_many
from proband.planners.dense_plan import BorrowedPlan, DensePlan, Solution
from proband.planners.layout import layout_of
from proband.policies import SUREST, AtLeaves, Decider, follow
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy

SHORTEST_SHARE = 1 / 64
"""A block is cut to what the cap allows, but not below this share of its length: then only the floor is kept."""

LARGEST_TABLE = 2**20
"""With more states draws are not solved as a whole, but below the leaves only: 12 tests of two outcomes have less."""

WORTH = 4 / 0.15
"""Subjects to come for each one of a block: exploration pays for 4·t of them, and a block has 0.15·t."""

UNSEEN = 0.2
"""In how many of the blocks for a rival the plan of a draw is played whatever it seems worth."""

UNCOMPARED = 0.6
"""The same where there is no time to compare them."""


@dataclass(frozen=True)
class Ends:
    """Where a plan stops, over the estimator's support.

    Of each leaf the state (d,), and whether a test remains (`open`); of each of the K support rows the leaf into which
    it falls, and f(x, y) with that leaf's decision.
    """

    states: FloatArray
    of_row: IntArray
    reward: FloatArray
    open: NDArray[np.bool_]

    def total(self, weights: FloatArray) -> FloatArray:
        """Return the weight of support rows (K,) that falls into each leaf, shape (leaves,)."""
        return totals(self.of_row, weights, len(self.states))


class ListedLeaves:
    """The leaves of plans of listed outcomes (:class:`~proband.agents.stops.Leaves`).

    Parameters
    ----------
    problem : Problem
    draws : int, optional
        J, the number of posterior draws; by default 64 for small problems, 16 for larger and 8 for the largest ones.
    thompson : float, default 0.5
        Share of the blocks in which the plan of a posterior draw is played if one is worth it.
    limits : PerSubject, optional
        Of the plans. A table of states does not know what was paid, so draws are solved without: what a leaf may lose
        is overstated, and nobody's plan but the estimate's is played.
    """

    floor, safe_floor, threshold, surest = 0.0, 0.004, 1.0, SUREST
    ahead, first, growth, expected = 4.0, 64, 0.15, 0
    memoryless = False
    reference = WeightedSubjects

    def __init__(
        self, problem: Problem, *, draws: int | None = None, thompson: float = 0.5, limits: PerSubject = NO_LIMITS
    ) -> None:
        if (draws is not None and draws < 1) or not 0 <= thompson <= 1:
            raise AgentError(
                f"draws is {draws}, thompson {thompson}; they must be 1 or more and in [0, 1]; correct them"
            )
        self.problem = problem
        self.layout = layout_of(problem)
        self.draws = _draws(self.layout.n_states) if draws is None else draws
        self.thompson, self.limits = 0.0 if limits.given else thompson, limits
        self.parameters = float(self.layout.level_sizes[self.layout.m])
        check_size(self.layout, problem.n_columns, None)

    def look(self, estimator: Likelihood, planner: Planner, rng: np.random.Generator, t: int) -> Stops:
        """Return the plan of the estimate, or now and then that of a draw, and where it stops."""
        draws = estimator.draws(rng, self.draws)
        p = estimator.probabilities
        own, solved = self._plan(estimator, np.vstack([p, draws]), rng.random())
        base: Policy = planner(self.problem, estimator.distribution(), t) if self.limits.given else own
        ends = self.ends(base, estimator.support)
        mass = ends.total(p)
        losses = self._values(estimator, ends, draws, solved) - np.array([ends.total(d * ends.reward) for d in draws])
        kappa = ends.total(p * (ends.reward - self._best_reward(estimator)))
        kappa += mass * self.problem.cost_of_the_rest(ends.states)
        n = np.maximum(1.0, ends.total(self.complete_counts(estimator)))
        loss = np.maximum(losses, 0).mean(axis=0)
        return Stops(base, ends.states, mass, loss, np.maximum(kappa, 1e-12), n, ends.open)

    def _plan(self, estimator: Likelihood, laws: FloatArray, coin: float) -> tuple[DensePlan, list[Solution]]:
        """Return the plan to play and the solutions of all draws; of the laws (laws, K) the first is the estimate.

        Where the table of all states is large only the law that is played is solved, and no solution is returned.
        """
        payoff = self.problem.payoff(estimator.support)
        solve = partial(solve_many, self.layout, estimator.support, payoff=payoff)
        if self.layout.n_states > LARGEST_TABLE:
            rival = coin < UNCOMPARED * self.thompson
            [solution] = solve(laws[[int(rival)]])
            return (BorrowedPlan if rival else DensePlan)(self.layout, estimator.distribution(), solution), []
        solutions = solve(laws)
        plan = DensePlan(self.layout, estimator.distribution(), solutions[0])
        if coin < UNSEEN * self.thompson:
            plan = BorrowedPlan(self.layout, estimator.distribution(), solutions[1])
        elif coin < self.thompson:
            plan = self._rival(plan, estimator.support, laws, solutions)
        return plan, solutions[1:]

    def _rival(self, plan: DensePlan, support: FloatArray, laws: FloatArray, solutions: list[Solution]) -> DensePlan:
        """Return the plan of the draw that is most worth a block, with the estimate's decisions, or the plan itself."""
        rivals = [BorrowedPlan(self.layout, plan.distribution, solution) for solution in solutions[1:]]
        own, *others = (self._earned(each, support) for each in (plan, *rivals))
        gains = np.einsum("lk,rk->lr", laws, np.array(others) - own)  # a product of matrices would wake all cores
        worth = WORTH * np.maximum(gains[1:], 0.0).mean(axis=0) + gains[0]
        return rivals[int(worth.argmax())] if worth.max() > 0 else plan

    def _earned(self, plan: DensePlan, support: FloatArray) -> FloatArray:
        """Return reward less costs of each support row under a plan, shape (K,)."""
        episodes = plan.run(support)
        return self.problem.realised(support, episodes.actions) - episodes.costs

    def _values(self, estimator: Likelihood, ends: Ends, draws: FloatArray, solved: list[Solution]) -> FloatArray:
        """Return what each draw could bring from each leaf on, shape (draws, leaves)."""
        if solved:
            number = self.layout.number(ends.states)
            return np.array([solution.values[number] for solution in solved])
        return values_below(self.problem, ends.states, estimator.support, ends.of_row, draws)

    def completion(self, stops: Stops, chances: FloatArray, lowest: float) -> AtLeaves:
        """Return the probability of completing in each leaf."""
        return AtLeaves(stops.where, chances)

    def extra(self, *whatever: object, **more: object) -> None:
        """Return None: who is looked at more closely is tested completely."""

    def within(self, allowed: float, left: int) -> tuple[int, float]:
        """Cut the block to what the cap allows; where that is next to nothing, toss no coin beyond the floor."""
        return (left, 0.0) if allowed < max(1.0, SHORTEST_SHARE * left) else (min(left, int(allowed)), SUREST)

    def ends(self, base: Policy, support: FloatArray) -> Ends:
        """Return where a plan stops."""
        episodes = follow(self.problem, base, support)
        _, first, of_row = np.unique(self.layout.number(episodes.states), return_index=True, return_inverse=True)
        states = episodes.states[first]
        missing = np.asarray(np.isnan(states[:, self.problem.operable]).any(axis=1))
        return Ends(states, of_row.reshape(-1), self.problem.realised(support, episodes.actions), missing)

    def complete_counts(self, estimator: Likelihood) -> FloatArray:
        """Return how often each support row was seen with every test that can be run, shape (K,).

        Where tests are unavailable, what was seen is spread evenly over the rows that agree with it.
        """
        seen = estimator.observations
        complete = fully_tested(self.problem, seen.rows)
        cells = self.layout.number(estimator.support)
        of_seen = self.layout.number(self.problem.states(seen.rows[complete])) if complete.any() else np.empty(0, int)
        n_cells = self.layout.level_sizes[self.layout.m]
        rows = np.maximum(totals(cells, np.ones(len(cells)), n_cells), 1)
        return (totals(of_seen, seen.counts[complete], n_cells) / rows)[cells]

    def _best_reward(self, estimator: Likelihood) -> FloatArray:
        """Return what each support row would bring if every test that can be run were done, shape (K,)."""
        if self.problem.all_available:
            return np.asarray(self.problem.payoff(estimator.support).max(axis=1))
        actions, _ = Decider(self.problem, estimator.distribution()).decide(estimator.support)
        return self.problem.realised(estimator.support, actions)


def _draws(n_states: int) -> int:
    """Return how many posterior draws a problem of this size can afford."""
    return 8 if n_states > LARGEST_TABLE else min(64, max(16, 2**20 // n_states))
