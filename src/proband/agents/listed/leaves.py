"""Where plans of listed outcomes stop, and what that may lose, for leaf completion.

A leaf is a state s. With posterior draws D_1 ... D_J, the estimate P, and the leaf's decision y,

    loss  = mean_j [ V_j(s) − Σ_{x in s} D_j(x) f(x, y) ]⁺       what the leaf may lose a subject (unnormalised),
    kappa = Σ_{x in s} P(x) (f(x, y) − max_y' f(x, y')) + P(s) · (price of the remaining tests)    of looking,
    n     = complete subjects seen in s.

In some blocks the tests of the plan of one posterior draw are run instead of those of the estimate's plan: it finds
better tests cheaply. Decisions are the estimate's always. A coin stays below 1 (a chance of 1 always means that the
plan itself runs every test).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.agents.agent import fully_tested
from proband.agents.estimates import Planner
from proband.agents.listed.reference import WeightedSubjects
from proband.agents.stops import Stops
from proband.distributions import totals
from proband.errors import AgentError
from proband.estimators import Likelihood
from proband.planners.dense import BorrowedPlan, DensePlan, check_size, solve_many
from proband.planners.layout import layout_of
from proband.policies import SUREST, AtLeaves, Decider, follow
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy

SHORTEST_SHARE = 1 / 64
"""A block is cut to what the cap allows, but not below this share of its length: then only the floor is kept."""


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
        J, the number of posterior draws; by default 64 for small problems, down to 16 for large ones.
    thompson : float, default 0.3
        Share of the blocks in which the plan of a posterior draw is played.
    """

    floor, safe_floor, threshold, surest = 0.0, 0.004, 1.0, SUREST
    reference = WeightedSubjects

    def __init__(self, problem: Problem, *, draws: int | None = None, thompson: float = 0.3) -> None:
        if (draws is not None and draws < 1) or not 0 <= thompson <= 1:
            raise AgentError(
                f"draws is {draws}, thompson {thompson}; they must be 1 or more and in [0, 1]; correct them"
            )
        self.problem = problem
        self.layout = layout_of(problem)
        self.draws = min(64, max(16, 2**20 // self.layout.n_states)) if draws is None else draws
        self.thompson = thompson
        self.parameters = float(self.layout.level_sizes[self.layout.m])
        check_size(self.layout, problem.n_columns, None)

    def look(self, estimator: Likelihood, planner: Planner, rng: np.random.Generator, t: int) -> Stops:
        """Return the plan of the estimate, or now and then that of a draw, and where it stops."""
        draws = estimator.draws(rng, self.draws)
        support, p = estimator.support, estimator.probabilities
        solutions = solve_many(self.layout, support, np.vstack([p, draws]), self.problem.payoff(support))
        played = 1 if rng.random() < self.thompson else 0
        base = (BorrowedPlan if played else DensePlan)(self.layout, estimator.distribution(), solutions[played])
        ends = self.ends(base, support)
        mass, number = ends.total(p), self.layout.number(ends.states)
        losses = [s.values[number] - ends.total(d * ends.reward) for s, d in zip(solutions[1:], draws, strict=True)]
        kappa = ends.total(p * (ends.reward - self._best_reward(estimator)))
        kappa += mass * self.problem.cost_of_the_rest(ends.states)
        n = np.maximum(1.0, ends.total(self.complete_counts(estimator)))
        loss = np.maximum(losses, 0).mean(axis=0)
        return Stops(base, ends.states, mass, loss, np.maximum(kappa, 1e-12), n, ends.open)

    def completion(self, stops: Stops, chances: FloatArray, lowest: float) -> AtLeaves:
        """Return the probability of completing in each leaf."""
        return AtLeaves(stops.where, chances)

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
