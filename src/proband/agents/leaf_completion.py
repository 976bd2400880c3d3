"""Leaf completion: explore only where it pays.

Where the plan stops in a leaf s with tests left, a coin decides whether the subject is completed (all remaining tests
run) all the same. Its probability weighs what a wrong decision there may cost the subjects to come against the price
of looking. With posterior draws D_1 ... D_J, the estimate P, and the leaf's decision y,

    loss  = mean_j [ V_j(s) − Σ_{x in s} D_j(x) f(x, y) ]⁺       what the leaf may lose a subject (unnormalised),
    kappa = Σ_{x in s} P(x) (f(x, y) − max_y' f(x, y')) + P(s) · (price of the remaining tests)    of looking,
    n     = complete subjects seen in s,   H = `ahead` · t the subjects to come, m those of this block.

Completing n' more subjects costs n'·kappa/P(s) and shrinks the loss of the H·P(s) visits to come like 1/(n + n'), so
it pays while H·P(s)·loss·n/(n + n')² > kappa, which gives n' = sqrt(H·P(s)·loss·n/kappa) − n, at most doubling n; the
coin's probability is n'/(m·P(s)), kept below 1 (a chance of 1 always means that the plan itself runs every test). In
some blocks the tests of the plan of one posterior draw are run instead of those of the estimate's plan: it finds
better tests cheaply. Decisions are the estimate's always.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.agents.agent import fully_tested
from proband.agents.replanning import Replanning
from proband.distributions import Discrete, totals
from proband.errors import AgentError
from proband.estimators import Prior
from proband.planners.dense import BorrowedPlan, DensePlan, Solution, check_size, solve_many
from proband.planners.layout import layout_of
from proband.policies import SUREST, Completing, Decider, follow
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy


@dataclass(frozen=True)
class Leaves:
    """Where a plan stops, over the estimator's support.

    Attributes
    ----------
    states : FloatArray of shape (leaves, d)
    of_row : IntArray of shape (K,)
        The leaf into which each support row falls.
    reward : FloatArray of shape (K,)
        f(x, y) of each row with its leaf's decision.
    remaining : FloatArray of shape (leaves,)
        What it costs to run all remaining tests.
    open : array of bool of shape (leaves,)
        Whether a test remains.
    """

    states: FloatArray
    of_row: IntArray
    reward: FloatArray
    remaining: FloatArray
    open: NDArray[np.bool_]

    def total(self, weights: FloatArray) -> FloatArray:
        """Return the weight of support rows (K,) that falls into each leaf, shape (leaves,)."""
        return totals(self.of_row, weights, len(self.states))


class LeafCompletion(Replanning):
    """The anytime agent of this library: learns from every subject, completes leaves by a coin.

    Parameters
    ----------
    problem, seed, first, growth, prior
        As for :class:`~proband.agents.replanning.Replanning`.
    draws : int, optional
        J, the number of posterior draws; by default 64 for small problems, down to 16 for large ones.
    thompson : float, default 0.3
        Share of the blocks in which the plan of a posterior draw is played.
    ahead : float, default 4
        How far to plan exploration, as a multiple of the subjects so far.
    horizon : int, optional
        T, if known: nothing is explored for subjects beyond it.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        first: int = 64,
        growth: float = 0.15,
        prior: Prior | None = None,
        draws: int | None = None,
        thompson: float = 0.3,
        ahead: float = 4.0,
        horizon: int | None = None,
    ) -> None:
        if (draws is not None and draws < 1) or not 0 <= thompson <= 1 or not ahead >= 0:
            raise AgentError(
                f"draws is {draws}, thompson {thompson}, ahead {ahead}; they must be 1 or more, in [0, 1] and 0 or "
                "more; correct them"
            )
        super().__init__(problem, seed=seed, first=first, growth=growth, prior=prior)
        self.thompson = thompson
        self.ahead = ahead
        self.horizon = horizon
        self.layout = layout_of(problem)
        self.draws = min(64, max(16, 2**20 // self.layout.n_states)) if draws is None else draws
        check_size(self.layout, problem.n_columns, None)

    def next_policy(self) -> Policy:
        """Return the plan of the block, with coins at its leaves."""
        draws = self.estimator.draws(self.rng, self.draws)
        support = self.estimator.support
        weights = np.vstack([self.estimator.probabilities, draws])
        solutions = solve_many(self.layout, support, weights, self.problem.payoff(support))
        played = 1 if self.rng.random() < self.thompson else 0
        base = (BorrowedPlan if played else DensePlan)(self.layout, self.estimator.distribution(), solutions[played])
        leaves = self.leaves_of(base)
        coins = self.coins(leaves, weights, solutions[1:])
        return Completing(self.problem, base, leaves.states, coins, self._law_for_unavailable())

    def coins(self, leaves: Leaves, weights: FloatArray, solutions: list[Solution]) -> FloatArray:
        """Return the probability of completing in each leaf; `weights` (1 + J, K) are the estimate and the draws."""
        p, draws = weights[0], weights[1:]
        mass = leaves.total(p)
        number = self.layout.number(leaves.states)
        losses = [s.values[number] - leaves.total(d * leaves.reward) for s, d in zip(solutions, draws, strict=True)]
        loss = np.maximum(losses, 0).mean(axis=0)
        kappa = leaves.total(p * (leaves.reward - self._best_reward())) + mass * leaves.remaining
        kappa = np.maximum(kappa, 1e-12)
        n = np.maximum(1.0, leaves.total(self.complete_counts()))
        ahead = self.subjects_ahead()
        want = np.clip(np.sqrt(ahead * mass * loss * n / kappa) - n, 1.0, n + 1)
        pays = (ahead * mass * loss / n > kappa) & (mass > 0) & leaves.open
        chance = np.divide(want, self.left * mass, out=np.zeros(len(mass)), where=pays)
        return np.asarray(np.minimum(chance, SUREST))

    def subjects_ahead(self) -> float:
        """Return H: for how many subjects to come exploration should pay."""
        ahead = self.ahead * self.t
        return ahead if self.horizon is None else max(0.0, min(ahead, self.horizon - self.t))

    def leaves_of(self, base: DensePlan) -> Leaves:
        """Return where a plan stops."""
        support = self.estimator.support
        episodes = follow(self.problem, base, support)
        numbers = self.layout.number(episodes.states)
        _, first, of_row = np.unique(numbers, return_index=True, return_inverse=True)
        states = episodes.states[first]
        reward = self.problem.realised(support, episodes.actions)
        missing = np.asarray(np.isnan(states[:, self.problem.operable]).any(axis=1))
        return Leaves(states, of_row.reshape(-1), reward, self.problem.cost_of_the_rest(states), missing)

    def complete_counts(self) -> FloatArray:
        """Return how often each support row was seen with every test that can be run, shape (K,).

        Where tests are unavailable, what was seen is spread evenly over the rows that agree with it.
        """
        seen = self.estimator.observations
        complete = fully_tested(self.problem, seen.rows)
        cells = self.layout.number(self.estimator.support)
        of_seen = self.layout.number(self.problem.states(seen.rows[complete])) if complete.any() else np.empty(0, int)
        n_cells = self.layout.level_sizes[self.layout.m]
        share = totals(of_seen, seen.counts[complete], n_cells) / np.maximum(
            totals(cells, np.ones(len(cells)), n_cells), 1
        )
        return share[cells]

    def _best_reward(self) -> FloatArray:
        """Return what each support row would bring if every test that can be run were done, shape (K,)."""
        if self._law_for_unavailable() is None:
            return np.asarray(self.problem.payoff(self.estimator.support).max(axis=1))
        decider = Decider(self.problem, self.estimator.distribution())
        actions, _ = decider.decide(self.estimator.support)
        return self.problem.realised(self.estimator.support, actions)

    def _law_for_unavailable(self) -> Discrete | None:
        return None if self.problem.all_available else self.estimator.distribution()
